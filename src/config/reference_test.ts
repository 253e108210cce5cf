// The reference pages say what the tables and the library say.
import assert from "node:assert/strict";
import { fileInputKeys, fileOutputKeys } from "./file_uri.ts";
import { impairments } from "./impairment.ts";
import { srtKeys } from "./srt_keys.ts";
import { udpInputKeys, udpOutputKeys } from "./udp_uri.ts";

const root = new URL("../../", import.meta.url);
const uris = Deno.readTextFileSync(new URL("docs/reference/uris.md", root));
const options = Deno.readTextFileSync(new URL("docs/reference/options.md", root));

/** The part of a page under a heading. */
function section(page: string, heading: string): string {
  const parts = page.split(/^## /m).filter((part) => part.startsWith(`${heading}\n`));
  assert.equal(parts.length, 1, heading);
  return parts[0] ?? "";
}

/** The options of the link model, which the library makes by macros: those that flags set. */
function modelOptions(): string[] {
  const values: Record<string, string> = {
    burst: "2",
    outage: "every=2s,for=1s",
    rate: "1Mbps",
    queue: "1",
    delay: "1ms",
    jitter: "1ms",
  };
  return impairments.flatMap(({ name, read }) =>
    read(values[name] ?? "1%").options.map((option) => option.name)
  );
}

Deno.test("every key and every other spelling is in uris.md", () => {
  const tables = [
    ["srt://", srtKeys],
    ["udp://", [...udpInputKeys, ...udpOutputKeys]],
    ["Files", [...fileInputKeys, ...fileOutputKeys]],
  ] as const;
  for (const [heading, keys] of tables) {
    const text = section(uris, heading);
    for (const { name, aliases } of keys) {
      for (const spelling of [name, ...aliases ?? []]) {
        assert.ok(text.includes(`\`${spelling}\``), `${heading} lacks ${spelling}`);
      }
    }
  }
});

Deno.test("options.md has exactly the options of the library, each in its section", () => {
  const tables: [file: string, table: string, heading: string][] = [
    ["engine.c", "engine_options", "Engine"],
    ["flow.c", "flow_options", "Flow"],
    ["flow.c", "link_options", "SRT link"],
    ["udp_endpoint.c", "input_options", "UDP input"],
    ["udp_endpoint.c", "output_options", "UDP output"],
    ["srt_endpoint.c", "options", "SRT endpoint"],
    ["file_input.c", "input_options", "File input"],
    ["file_output.c", "options", "File output"],
    ["relay_config.c", "own_options", "Relay"],
  ];
  for (const [file, table, heading] of tables) {
    const source = Deno.readTextFileSync(new URL(`ffi/src/flow/${file}`, root));
    const body = new RegExp(`struct ls__option ${table}\\[\\] = \\{(.*?)\\n\\};`, "s").exec(source);
    const own = [...body?.[1]?.matchAll(/\{"(\w+)"/g) ?? []].map((match) => match[1]);
    assert.ok(own.length > 0, `${file} has no table ${table}`);
    const documented = [...section(options, heading).matchAll(/^\| `(\w+)` \|/gm)].map((match) =>
      match[1]
    );
    const expected = heading === "Relay" ? [...own, ...modelOptions()] : own;
    assert.deepEqual(documented.toSorted(), expected.toSorted(), heading);
  }
});
