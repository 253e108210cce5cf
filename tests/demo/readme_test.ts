// What the README tells people to type is there.
import assert from "node:assert/strict";
import { root } from "../../scripts/files.ts";

Deno.test("the README names only tasks that there are", async () => {
  const { tasks } = JSON.parse(await Deno.readTextFile(`${root}deno.json`));
  for (const page of ["README.md", "CONTRIBUTING.md"]) {
    const text = await Deno.readTextFile(`${root}${page}`);
    const named = [...text.matchAll(/deno(?:@[\d.]+)? task ([\w:]+)/g)].map(([, name]) => name);
    assert.ok(named.length > 0);
    for (const name of named) assert.ok(Object.hasOwn(tasks, name ?? ""), `${page}: ${name}`);
  }
});
