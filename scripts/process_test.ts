import assert from "node:assert/strict";
import { maxOutput, run } from "./process.ts";

const timeoutMs = 20_000;
const shell = (script: string, limitMs = timeoutMs): ReturnType<typeof run> =>
  run("sh", { args: ["-c", script], timeoutMs: limitMs });

Deno.test("gives back the exit code and what was written, standard output apart", async () => {
  const outcome = await shell("echo out; echo err >&2; exit 3");
  assert.equal(outcome.code, 3);
  assert.equal(outcome.stdout, "out\n");
  assert.deepEqual(outcome.output.trim().split("\n").sort(), ["err", "out"]);
});

Deno.test("a program that is not there gives 127", async () => {
  const outcome = await run("no-such-program-here", { timeoutMs });
  assert.equal(outcome.code, 127);
  assert.match(outcome.output, /no-such-program-here: not found/);
});

Deno.test("standard input is what was given, else empty", async () => {
  assert.equal((await run("cat", { stdin: "käse", timeoutMs })).stdout, "käse");
  assert.equal((await run("cat", { timeoutMs })).stdout, "");
});

Deno.test("a program that reads nothing is no error", async () => {
  const outcome = await run("true", { stdin: "x".repeat(1 << 20), timeoutMs });
  assert.equal(outcome.code, 0);
});

Deno.test("a program over its time is ended with its children, and says so", async () => {
  const started = performance.now();
  const outcome = await shell("sleep 300 & echo $!; wait", 300);
  assert.ok(performance.now() - started < 10_000);
  assert.equal(outcome.code, 124);
  assert.match(outcome.output, /ended after 0.3 s/);
  assert.equal(await isRunning(outcome.stdout.trim()), false);
});

Deno.test("a program that ignores SIGTERM is killed", async () => {
  const outcome = await shell("trap '' TERM; while :; do sleep 0.1; done", 100);
  assert.equal(outcome.code, 124);
});

Deno.test("what a program leaves behind is ended when it ends", async () => {
  const outcome = await shell("sleep 300 & echo $!");
  assert.equal(outcome.code, 0);
  assert.equal(await isRunning(outcome.stdout.trim()), false);
});

Deno.test("of much output the newest is kept", async () => {
  const outcome = await shell(`head -c ${maxOutput * 2} /dev/zero; printf end`);
  assert.ok(outcome.stdout.length <= maxOutput + (1 << 17));
  assert.ok(outcome.stdout.endsWith("end"));
});

Deno.test("a script that is told to stop ends its programs, and says no more", async () => {
  const program = `300.${Deno.pid}`; // told from every other sleep by its argument
  const script = `
    import { endProgramsOnSignal, run } from "${new URL("./process.ts", import.meta.url)}";
    endProgramsOnSignal();
    const args = ["-c", "trap '' TERM; sleep ${program}; sleep ${program}"];
    const timer = setInterval(() => {}, 1000);
    setTimeout(() => Deno.kill(Deno.pid, "SIGTERM"), 1000);
    const { output } = await run("sh", { args, timeoutMs: 20_000 });
    clearInterval(timer);
    console.log("result", output);
  `;
  const args = ["eval", "--quiet", script];
  const ending = run(Deno.execPath(), { args, timeoutMs });
  while (!await isAnyRunning(`sleep ${program}`)) await new Promise((next) => setTimeout(next, 20));
  const outcome = await ending;
  assert.equal(outcome.code, 143);
  assert.equal(outcome.stdout, "");
  assert.match(outcome.output, /ended by SIGTERM/);
  assert.equal(await isAnyRunning(`sleep ${program}`), false);
});

/** Whether a process runs; one that has ended and waits to be reaped does not. */
async function isRunning(pid: string): Promise<boolean> {
  const { code, stdout } = await run("cat", { args: [`/proc/${pid}/stat`], timeoutMs });
  return code === 0 && !/^\d+ \(.*\) Z /.test(stdout);
}

/** Whether any process has this command line. */
async function isAnyRunning(command: string): Promise<boolean> {
  const script =
    `for file in /proc/[0-9]*/cmdline; do tr '\\0' ' ' < $file; echo; done 2>/dev/null`;
  return (await shell(script)).stdout.split("\n").includes(`${command} `);
}
