import assert from "node:assert/strict";
import type { EngineEvent } from "../engine/mod.ts";
import { describeEvent } from "./report.ts";

const common = { owner: undefined, index: -1, atMs: 0 };

Deno.test("events in words", () => {
  const cases: [EngineEvent, string | undefined, string][] = [
    [{ ...common, kind: "flow_state", state: "running", text: "running" }, undefined, "running"],
    [
      { ...common, kind: "flow_state", state: "draining", text: "end of the input" },
      undefined,
      "delivering what is buffered, for 10 s at most: end of the input",
    ],
    [
      { ...common, kind: "link_state", state: "connected", text: "192.0.2.1:5000: connected" },
      "output 2",
      "output 2: 192.0.2.1:5000: connected",
    ],
    [
      { ...common, kind: "link_state", state: "broken", text: "192.0.2.1:5000: timed out" },
      "input",
      "input: connection broken: 192.0.2.1:5000: timed out",
    ],
    [
      { ...common, kind: "link_state", state: "closed", text: "" },
      "input",
      "input: connection closed",
    ],
    [
      { ...common, kind: "lost", count: 7, text: "" },
      undefined,
      "7 events were lost, because they were not read in time",
    ],
    [{ ...common, kind: "warning", text: "no room" }, "input", "input: no room"],
  ];
  for (const [event, who, sentence] of cases) assert.equal(describeEvent(event, who), sentence);
});
