/**
 * Just enough of C to check the rules of the house: the sources are formatted by clang-format, so
 * a definition begins in column one and ends with a brace in column one.
 *
 * @module
 */

/** One function definition. */
export interface CFunction {
  readonly name: string;
  readonly isStatic: boolean;
  /** Line numbers of its first line and of its closing brace. */
  readonly from: number;
  readonly to: number;
  readonly body: string;
}

/** Blanks out comments and the insides of strings, keeping the lines. */
export function stripComments(source: string): string {
  const pattern = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"/g;
  return source.replace(
    pattern,
    (text) => text.startsWith('"') ? '""' : text.replace(/[^\n]/g, " "),
  );
}

/** The function definitions of a source, in order. */
export function functionsOf(source: string): CFunction[] {
  const plain = stripComments(source).replace(/__attribute__\(\(.*?\)\)+ */g, "");
  const lines = plain.split("\n");
  const found: CFunction[] = [];
  let head: { name: string; isStatic: boolean; from: number } | undefined;
  lines.forEach((line, index) => {
    const start = /^(?!#|typedef\b|\})\w[^=;]*?\b(\w+)\(/.exec(line);
    if (start?.[1] !== undefined) {
      head = { name: start[1], isStatic: line.startsWith("static"), from: index + 1 };
    }
    if (head === undefined) return;
    if (line.endsWith(";") && !lines.slice(head.from - 1, index).some((one) => one.endsWith("{"))) {
      head = undefined; // a declaration
    } else if (line === "}") {
      const body = lines.slice(head.from - 1, index + 1).join("\n");
      found.push({ ...head, to: index + 1, body });
      head = undefined;
    }
  });
  return found;
}

/** What a source includes: quoted names, and names in angle brackets with these. */
export function includesOf(source: string): string[] {
  return [...source.matchAll(/^#include (?:"([^"]+)"|(<[^>]+>))/gm)].map(([, own, system]) =>
    own ?? system ?? ""
  );
}
