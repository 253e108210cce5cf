import assert from "node:assert/strict";
import {
  abiVersion,
  directions,
  endpointKinds,
  eventKinds,
  eventSize,
  eventTextSize,
  flowStates,
  linkStates,
  LS_SELF,
  symbols,
} from "./symbols.ts";

const header = Deno.readTextFileSync(new URL("../../ffi/include/lockstep.h", import.meta.url));
const table = Deno.readTextFileSync(new URL("./symbols.ts", import.meta.url));
const code = header.replaceAll(/\/\*.*?\*\//gs, "");

/** C type to FFI type. */
function ffiType(type: string): string {
  if (type === "void") return "void";
  if (type.includes("*")) return "buffer";
  const native: Record<string, string> = { int32_t: "i32", uint32_t: "u32", int64_t: "i64" };
  const found = native[type];
  assert.ok(found !== undefined, `the table has no type for ${type}`);
  return found;
}

/** The functions that the header declares: FFI types, and the C declaration of each parameter. */
function declared(): Record<string, { types: string[]; parameters: string[] }> {
  const functions: Record<string, { types: string[]; parameters: string[] }> = {};
  for (
    const [, result = "", name = "", list = ""] of code.matchAll(/LS_API (\w+) (\w+)\((.*?)\);/gs)
  ) {
    const parameters = list === "void"
      ? []
      : list.split(",").map((one) => one.trim().replaceAll(/\s+/g, " "));
    const types = parameters.map((one) =>
      ffiType(one.includes("*") ? one : one.replace(/ \w+$/, ""))
    );
    functions[name] = { types: [...types, ffiType(result)], parameters };
  }
  return functions;
}

Deno.test("the table has every function of the header, with its types", () => {
  const functions = declared();
  assert.ok(Object.keys(functions).length >= 21);
  const ours = Object.entries(symbols).map(([name, { parameters, result }]) =>
    [name, [...parameters, result]] as const
  );
  assert.deepEqual(
    Object.fromEntries(ours),
    Object.fromEntries(Object.entries(functions).map(([name, { types }]) => [name, types])),
  );
});

Deno.test("the C declaration stands beside each parameter", () => {
  for (const [name, { parameters }] of Object.entries(declared())) {
    const entry = new RegExp(`\\b${name}: \\{(.*?)result:`, "s").exec(table)?.[1] ?? "";
    const comments = [...entry.matchAll(/\/\/ (.*)$/gm)].map((match) => match[1]);
    assert.deepEqual(comments, parameters, name);
  }
});

Deno.test("only what waits or takes long leaves the thread", () => {
  const waiting = Object.entries(symbols).filter(([, entry]) => "nonblocking" in entry);
  assert.deepEqual(waiting.map(([name]) => name), ["ls_event_wait", "ls_simulation_run"]);
});

Deno.test("numbers are those of the header", () => {
  const enums: [string, string, Record<string, number>][] = [
    ["ls_endpoint_kind", "LS_KIND_", endpointKinds],
    ["ls_direction", "LS_", directions],
    ["ls_event_kind", "LS_EVENT_", eventKinds],
    ["ls_flow_state", "LS_FLOW_", flowStates],
    ["ls_link_state", "LS_LINK_", linkStates],
  ];
  for (const [name, prefix, ours] of enums) {
    const body = new RegExp(`enum ${name} \\{(.*?)\\}`, "s").exec(code)?.[1] ?? "";
    const theirs = [...body.matchAll(/(\w+) = (\d+)/g)].map((
      [, word = "", value],
    ) => [word.slice(prefix.length).toLowerCase(), Number(value)]);
    assert.deepEqual(ours, Object.fromEntries(theirs), name);
  }
  const define = (name: string): number =>
    Number(new RegExp(`#define ${name} \\(?(-?\\d+)`).exec(code)?.[1]);
  assert.equal(define("LS_ABI_VERSION"), abiVersion);
  assert.equal(define("LS_EVENT_TEXT"), eventTextSize);
  assert.equal(define("LS_SELF"), LS_SELF);
  assert.equal(4 + 4 + 8 + 4 + 4 + 8 + eventTextSize, eventSize);
});

Deno.test("the library exports the table's functions and nothing else", async () => {
  const library = new URL("../../build/release/liblockstep.so", import.meta.url);
  const { stdout, success } = await new Deno.Command("nm", {
    args: ["-D", "--defined-only", library.pathname],
  }).output();
  assert.ok(success, `nm ${library.pathname}`);
  const exported = new TextDecoder().decode(stdout).trim().split("\n").map((line) =>
    line.split(" ").at(-1)
  );
  assert.deepEqual(exported.sort(), Object.keys(symbols).sort());
});
