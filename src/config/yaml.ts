/**
 * YAML from people: texts, lists and maps, and where each of them stands.
 *
 * All scalars stay the text that was typed (the failsafe schema of YAML 1.2.2 §10.1), so that units
 * are read in one place and no number is rounded or taken for a date on the way.
 *
 * @module
 */

import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from "yaml";
import { ConfigError } from "./error.ts";

/** Largest text that is read. */
export const maxYamlBytes = 65_536;

/** How often an anchor's content may be repeated, all in all. */
const maxAliasCount = 100;

/** Where something stands: keys and list positions, from the outside inwards. */
export type YamlPath = readonly (string | number)[];

/** A text that was read. */
export interface YamlText {
  /** Strings, arrays and records of them; null where nothing is written. */
  readonly content: unknown;
  /** `line 3, column 5: `, of the value there, or of the nearest thing around it that exists. */
  readonly at: (path: YamlPath) => string;
  /** The same for the key `name` of the map there. */
  readonly atKey: (path: YamlPath, name: string) => string;
}

/**
 * Reads a text with one document.
 *
 * @throws {ConfigError} a line for each thing that is not YAML; too long; repeats itself too often.
 *
 * @example
 * ```ts ignore
 * const { content, at } = readYaml("links:\n  - delay: 20ms\n");
 * assert.deepEqual(content, { links: [{ delay: "20ms" }] });
 * assert.equal(at(["links", 0, "delay"]), "line 2, column 12: ");
 * ```
 */
export function readYaml(text: string): YamlText {
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > maxYamlBytes) {
    throw new ConfigError(`has ${bytes} bytes; at most ${maxYamlBytes} are read`);
  }
  const lines = new LineCounter();
  const document = parseDocument(text, {
    schema: "failsafe",
    lineCounter: lines,
    prettyErrors: false,
  });
  const place = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `line ${line}, column ${col}: `;
  };
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) {
    throw new ConfigError(
      faults.slice(0, 20).map(({ pos, message }) => `${place(pos[0])}${oneLine(message)}`)
        .join("\n"),
    );
  }
  return {
    content: contentOf(document),
    at: (path) => place(nodeOffset(document, path)),
    atKey: (path, name) => place(keyOffset(document, path, name)),
  };
}

/** Messages of the parser may quote what was typed. */
function oneLine(message: string): string {
  return message.replaceAll(/\p{C}+/gu, " ");
}

function contentOf(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount });
  } catch (error) {
    // The parser's way of saying that an alias is of nothing, or that aliases make too much of it.
    if (!(error instanceof ReferenceError)) throw error;
    throw new ConfigError(oneLine(error.message));
  }
}

function nodeOffset(document: Document, path: YamlPath): number {
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}

function keyOffset(document: Document, path: YamlPath, name: string): number {
  const map = path.length === 0 ? document.contents : document.getIn(path, true);
  const key = isMap(map)
    ? map.items.map((pair) => pair.key).find((one) => isScalar(one) && one.value === name)
    : undefined;
  return isScalar(key) && key.range ? key.range[0] : nodeOffset(document, path);
}
