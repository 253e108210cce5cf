import assert from "node:assert/strict";
import { generalHelp, verbHelp, wrap } from "./help.ts";
import { verbs } from "./mod.ts";

const page = Deno.readTextFileSync(new URL("../../docs/reference/cli.md", import.meta.url));

Deno.test("the reference page shows the help of each verb as it is", () => {
  for (const help of [generalHelp(verbs), ...verbs.map(verbHelp)]) {
    assert.ok(
      page.includes(`\`\`\`text\n${help}\n\`\`\`\n`),
      `docs/reference/cli.md lacks:\n${help}`,
    );
  }
});

Deno.test("help fits a terminal and names every option", () => {
  for (const verb of verbs) {
    const help = verbHelp(verb);
    for (const line of help.split("\n")) assert.ok(line.length <= 80, line);
    for (const { name, hidden } of verb.options) {
      if (hidden !== true) assert.ok(help.includes(`--${name}`), name);
    }
    assert.ok(verb.examples.length > 0);
  }
});

Deno.test("wrapping", () => {
  assert.deepEqual(wrap("a bb ccc dddd", 4), ["a bb", "ccc", "dddd"]);
  assert.deepEqual(wrap("incomprehensible", 4), ["incomprehensible"]);
});
