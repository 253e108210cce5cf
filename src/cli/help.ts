/**
 * Help from the descriptions of the verbs.
 *
 * @module
 */

import { commonOptions, type OptionDescription, type Verb } from "./verb.ts";

/** Widest line of help. */
const width = 80;

/** Breaks a text at blanks, so that no line is longer than `columns`. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else lines.push(word);
  }
  return lines;
}

/** Two columns, the right one wrapped. */
function columns(rows: readonly (readonly [string, string])[]): string[] {
  const left = Math.max(...rows.map(([first]) => first.length)) + 4;
  return rows.flatMap(([first, second]) =>
    wrap(second, width - left).map((line, index) =>
      `${(index === 0 ? `  ${first}` : "").padEnd(left)}${line}`
    )
  );
}

function flagOf({ name, value, short }: OptionDescription): string {
  const long = value === undefined ? `--${name}` : `--${name} ${value}`;
  return short === undefined ? long : `-${short}, ${long}`;
}

/** The help of one verb. */
export function verbHelp(verb: Verb): string {
  const options = [...verb.options, ...commonOptions].filter(({ hidden }) => hidden !== true);
  return [
    `lockstep ${verb.name} ${verb.usage}`,
    "",
    ...verb.about.flatMap((paragraph) => [...wrap(paragraph, width), ""]),
    "Options",
    ...columns(options.map((option) => [flagOf(option), option.help])),
    ...(verb.notes ?? []).flatMap((note) => ["", ...wrap(note, width)]),
    "",
    "Examples",
    ...verb.examples.flatMap(({ command, text }) => [
      `  ${command}`,
      ...wrap(text, width - 6).map((line) => `      ${line}`),
    ]),
  ].join("\n");
}

/** The list of verbs. */
export function generalHelp(verbs: readonly Verb[]): string {
  return [
    "lockstep VERB …",
    "",
    ...wrap(
      "Carries live media over SRT, in lock step: every packet leaves when it is due.",
      width,
    ),
    "",
    "Verbs",
    ...columns([
      ...verbs.map(({ name, summary }): [string, string] => [name, summary]),
      ["help [VERB]", "print this help, or that of a verb"],
    ]),
    "",
    "Options",
    ...columns([["-h, --help", "print this help"], ["--version", "print the version"]]),
    "",
    "Exit codes: 0 done, 1 failed or lost, 2 the command line is not accepted.",
  ].join("\n");
}
