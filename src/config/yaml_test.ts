import assert from "node:assert/strict";
import fc from "fast-check";
import { ConfigError } from "./error.ts";
import { maxYamlBytes, readYaml } from "./yaml.ts";

function refusal(text: string): string {
  try {
    readYaml(text);
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error.message;
  }
  throw new Error(`it is accepted: ${text.slice(0, 80)}`);
}

Deno.test("scalars stay what was typed", () => {
  const text = 'a: 0.10\nb: 0x10\nc: yes\nd: 2026-01-01\ne: ~\nf: "1"\ng: 9007199254740993\nh:\n';
  assert.deepEqual(readYaml(text).content, {
    a: "0.10",
    b: "0x10",
    c: "yes",
    d: "2026-01-01",
    e: "~",
    f: "1",
    g: "9007199254740993",
    h: "",
  });
});

Deno.test("places are lines and columns, of values and of keys", () => {
  const { at, atKey } = readYaml("links:\n  - delay: 20ms\n    loss: 1%\n");
  assert.equal(at(["links", 0, "delay"]), "line 2, column 12: ");
  assert.equal(at(["links", 0]), "line 2, column 5: ");
  assert.equal(at(["links", 7, "delay"]), "line 2, column 3: ");
  assert.equal(at(["none"]), "line 1, column 1: ");
  assert.equal(atKey(["links", 0], "loss"), "line 3, column 5: ");
  assert.equal(atKey([], "links"), "line 1, column 1: ");
});

Deno.test("what is not YAML is told with its place, all at once", () => {
  assert.match(refusal("a: 1\na: 2\n"), /^line 2, column 1: .*unique/);
  assert.match(refusal("a: 'x\n"), /^line \d, column \d: /);
  assert.match(refusal("a: !!int 3\n"), /^line 1, column 4: Unresolved tag/);
  assert.match(refusal("a: 1\n---\nb: 1\n"), /multiple documents/);
  assert.match(refusal("a: *x\n"), /Unresolved alias/);
  assert.equal(refusal("a: 1\na: 2\nb: 1\nb: 2\n").split("\n").length, 2);
});

Deno.test("what is meant to exhaust the reader is refused", () => {
  assert.match(refusal(" ".repeat(maxYamlBytes + 1)), /at most 65536/);
  refusal("[".repeat(60_000));
  refusal(`${"[".repeat(20_000)}${"]".repeat(20_000)}`);
  const letters = [..."abcdefghij"];
  const bomb = letters.map((name, index) =>
    `${name}: &${name} [${Array(9).fill(index === 0 ? "x" : `*${letters[index - 1]}`).join(",")}]`
  ).join("\n");
  assert.match(refusal(bomb), /alias/);
});

Deno.test("whatever is typed, it is read or refused", () => {
  const word = fc.constantFrom(
    "a",
    ":",
    " ",
    "- ",
    "\n",
    "[",
    "]",
    "{",
    "}",
    "&a",
    "*a",
    "|",
    "!",
    '"',
    "#",
    "?",
  );
  const text = fc.array(word, { maxLength: 40 }).map((words) => words.join(""));
  fc.assert(
    fc.property(fc.oneof(text, fc.string({ unit: "binary" })), (typed) => {
      try {
        readYaml(typed);
      } catch (error) {
        assert.ok(error instanceof ConfigError, String(error));
      }
    }),
    { numRuns: 1000 },
  );
});
