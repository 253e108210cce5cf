import assert from "node:assert/strict";
import { createSocket, type Socket } from "node:dgram";
import { root } from "../../scripts/files.ts";
import { type Outcome, run } from "../../scripts/process.ts";

/** What the README says to type, without its first words. */
function demo(...args: readonly string[]): Promise<Outcome> {
  const all = ["task", "demo", ...args];
  const env = { NO_COLOR: "1" };
  return run(Deno.execPath(), { args: all, cwd: root, env, timeoutMs: 60_000 });
}

Deno.test("everything arrives over a path that loses one packet in a hundred", async () => {
  const { code, stdout, output } = await demo("--for", "8");
  assert.equal(code, 0, output);
  const lost = /^The path lost (\d+) of/m.exec(stdout)?.[1];
  assert.ok(Number(lost) > 0, `the path lost ${lost} packets, so nothing was shown`);
  const all = /played out all ([\d ]+) transport-stream packets/.exec(stdout)?.[1];
  const packets = Number(all?.replaceAll(" ", ""));
  const sent = 8 * 4e6 / (8 * 188);
  assert.ok(Math.abs(packets - sent) < 0.1 * sent, `${packets} of about ${sent} packets`);
  assert.match(stdout, /^ {2}deno task lockstep route /m);
});

Deno.test("what cannot arrive in time is told, and ends with 1", async () => {
  const { code, stdout, output } = await demo("--for", "3", "--loss", "30%", "--latency", "50ms");
  assert.equal(code, 1, output);
  assert.match(stdout, /The receiver missed [1-9][\d ]* of .* the latency is too short/);
});

Deno.test("a player may look on", async () => {
  const socket = await listen();
  try {
    const { port } = socket.address();
    const ran = demo("--for", "3", "--watch", `udp://127.0.0.1:${port}`);
    const [packet] = await new Promise<[Uint8Array]>((resolve) =>
      socket.once("message", (message) => resolve([message]))
    );
    assert.equal(packet[0], 0x47, "a transport-stream packet begins with its sync byte");
    assert.equal(packet.length % 188, 0);
    assert.equal((await ran).code, 0);
  } finally {
    socket.close();
  }
});

Deno.test("a mistake is told by the verb that finds it, and nothing is left running", async () => {
  const { code, output } = await demo("--loss", "many");
  assert.equal(code, 1, output);
  assert.match(output, /--loss: .*many/);
  assert.match(output, /the relay did not start/);
});

Deno.test("an option that there is not gives the usage and 2", async () => {
  const { code, output, stdout } = await demo("--speed", "9");
  assert.equal(code, 2);
  assert.match(output, /deno task demo \[--for SECONDS\]/);
  assert.equal(stdout, "");
});

Deno.test("the README names only tasks that there are", async () => {
  const { tasks } = JSON.parse(await Deno.readTextFile(`${root}deno.json`));
  for (const page of ["README.md", "CONTRIBUTING.md"]) {
    const text = await Deno.readTextFile(`${root}${page}`);
    const named = [...text.matchAll(/deno(?:@[\d.]+)? task ([\w:]+)/g)].map(([, name]) => name);
    assert.ok(named.length > 0);
    for (const name of named) assert.ok(Object.hasOwn(tasks, name ?? ""), `${page}: ${name}`);
  }
});

async function listen(): Promise<Socket> {
  const socket = createSocket("udp4");
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return socket;
}
