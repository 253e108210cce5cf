// What a person sees who types something wrong, or asks what there is.
import assert from "node:assert/strict";
import { freePort, run } from "./app.ts";

Deno.test("a command line that is not accepted: exit code 2, one line, nothing on stdout", async () => {
  const cases: [string[], RegExp][] = [
    [[], /a verb is missing; accepted: route, impair/],
    [["rout"], /unknown verb "rout"; did you mean route\?/],
    [["route", "udp://:5004"], /an argument is missing: lockstep route IN OUT…/],
    [["route", "-", "-", "--fro=1s"], /route has no option "--fro=1s"; did you mean --for\?/],
    [
      ["route", "udp://:5004", "srt://h:1?latancy=1"],
      /output: unknown key "latancy"; did you mean/,
    ],
    [["route", "srt://h:1?latency=200000", "-"], /input: latency: "200000" would be .*write 200ms/],
    [["route", "-", "srt://h:1?passphrase=correcthorse"], /output: passphrase: encryption is not/],
    [["route", "-", "-", "--json"], /--json and the output - both need standard output/],
    [["route", "-", "-", "check:", "-"], /standard output can be only one of the outputs/],
    [["route", "-", "-", "--threads", "17"], /--threads: "17" is not a whole number from 1 to 16/],
    [["route", "-", "udp://no-such-host.invalid:1"], /there is no address for "no-such-host.inv/],
    [["impair", ":4200"], /an argument is missing: lockstep impair LISTEN TARGET/],
    [["impair", ":4200", ":5000"], /TARGET: ":5000" has no host; write 127.0.0.1:5000/],
    [["impair", ":4200", "127.0.0.1:5000", "--loss", "1"], /--loss: "1" can be read in two ways/],
    [["help", "rout"], /unknown verb "rout"; did you mean route\?/],
  ];
  for (const [args, message] of cases) {
    const { code, stdout, stderr } = await run(args);
    assert.match(stderr, message, args.join(" "));
    assert.ok(!stderr.includes("correcthorse"));
    const errors = stderr.trimEnd().split("\n").filter((line) => line.includes("error: "));
    assert.deepEqual([code, stdout, errors.length], [2, "", 1], `${args.join(" ")}\n${stderr}`);
  }
});

Deno.test("help and version go to stdout", async () => {
  const cases: [string[], RegExp][] = [
    [["--help"], /^lockstep VERB …\n/],
    [["help", "route"], /^lockstep route IN OUT…\n/],
    [["impair", "-h"], /^lockstep impair LISTEN TARGET\n/],
    [["--version"], /^lockstep \d+\.\d+\.\d+\n$/],
  ];
  for (const [args, text] of cases) {
    const { code, stdout, stderr } = await run(args);
    assert.match(stdout, text);
    assert.deepEqual([code, stderr], [0, ""]);
  }
});

Deno.test("a library that is not there: exit code 1, where it was looked for, what to do", async () => {
  const { code, stdout, stderr } = await run(["route", "-", "check:"], {
    env: { LOCKSTEP_LIB: "/nonexistent/lib.so" },
  });
  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(stderr, /tried \/nonexistent\/lib\.so \(not permitted: run with --allow-ffi=/);
  assert.match(stderr, /build it with: deno task build/);
});

Deno.test("what the system refuses: exit code 1, and its reason", async () => {
  const missing = await run(["route", "/nonexistent/clip.bin", "check:"]);
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, /error: .*\/nonexistent\/clip\.bin.*No such file/);
  const port = freePort();
  const twice = await run(["route", `udp://127.0.0.1:${port}`, "check:", "--for=1ms"]);
  assert.equal(twice.code, 1, "a check that saw nothing has failed");
  const elsewhere = await run(["route", "udp://192.0.2.77:5004", "check:"]);
  assert.equal(elsewhere.code, 1);
  assert.match(elsewhere.stderr, /error: .*192\.0\.2\.77:5004.*assign/i);
});
