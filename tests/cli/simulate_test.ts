// The simulator as a program.
import assert from "node:assert/strict";
import { App, delay, run } from "./app.ts";

const kept = [...Deno.readDirSync(new URL("../../scenarios/", import.meta.url))]
  .map(({ name }) => `scenarios/${name}`).sort();

Deno.test("each kept scenario keeps its rules", async (test) => {
  assert.ok(kept.length >= 4);
  for (const path of kept) {
    await test.step(path, async () => {
      const { code, stdout, stderr } = await run(["simulate", path, "--for", "1min", "--json"]);
      assert.deepEqual([code, stderr], [0, ""]);
      const report = JSON.parse(stdout);
      assert.deepEqual([report.ok, report.end, report.seed], [true, "ended", 1]);
      assert.equal(report.repeat, `lockstep simulate ${path} --seed 1 --for 1min`);
      assert.ok(report.virtualSeconds >= 60 && report.virtualSeconds < 65);
      assert.ok(report.sent > 20_000);
      assert.equal(report.delivered + report.lost, report.sent);
    });
  }
});

const strict = new TextEncoder().encode(
  "rules: { loss: forbidden }\nlinks: [{ delay: 50ms, loss: 10% }]\n",
);

Deno.test("a broken rule is told with what repeats it, and it does", async () => {
  const first = await run(["simulate", "-"], { stdin: strict });
  assert.equal(first.code, 1);
  assert.match(first.stdout, /^broken off: a rule was broken\n {2}virtual time /);
  const said = /: (a packet was lost, at \S+ s); repeat it with: lockstep (simulate - --seed \d+)\n/
    .exec(first.stderr);
  assert.ok(said !== null, first.stderr);
  const again = await run((said[2] ?? "").split(" "), { stdin: strict });
  assert.equal(again.code, 1);
  assert.ok(again.stderr.includes(said[1] ?? ""), again.stderr);
  assert.equal(
    again.stdout.replace(/^ {2}took.*$/m, ""),
    first.stdout.replace(/^ {2}took.*$/m, ""),
  );
});

Deno.test("Ctrl-C ends it with the figures so far", async () => {
  await using app = App.start(["simulate", "scenarios/single_1pct.yaml", "--hours", "2000"]);
  await delay(1500);
  app.signal("SIGINT");
  const { code, stdout, stderr } = await app.end();
  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(
    stdout,
    /^stopped: no rule was broken so far\n {2}virtual time .*\n {2}sent +[\d ]+ packets\n/,
  );
});

Deno.test("mistakes are told, and nothing is run", async () => {
  const wrong: [string, string | undefined, RegExp][] = [
    [
      "-",
      "links: [{ los: 1% }]",
      /^\S+ error: -: line 1, column 11: links\[1\]: unknown key "los"; /,
    ],
    [
      "-",
      "a: 1\nb: 2",
      /: links: is missing\n.* error: -: line 1, .*"a".*\n.* error: -: line 2, .*"b"/,
    ],
    ["-", "#".repeat(70_000), /more than 65536 bytes/],
    ["/dev/zero", undefined, /more than 65536 bytes/],
    ["no/such.yaml", undefined, /"no\/such.yaml" does not exist/],
    ["scenarios", undefined, /"scenarios" cannot be read/],
  ];
  for (const [path, text, pattern] of wrong) {
    const stdin = text === undefined ? {} : { stdin: new TextEncoder().encode(text) };
    const { code, stdout, stderr } = await run(["simulate", path], stdin);
    assert.deepEqual([code, stdout], [2, ""], path);
    assert.match(stderr, pattern);
  }
});
