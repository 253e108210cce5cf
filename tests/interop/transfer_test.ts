/** A stream to and from libsrt, ffmpeg and ourselves, over a path that delays and loses. */
import { installed, needing } from "./programs.ts";
import { onStage } from "./stage.ts";
import type { Speaker } from "./speakers.ts";
import {
  carry,
  describeRoles,
  judge,
  longPath,
  lossyPath as path,
  pauseOf,
  programsOf,
  type Roles,
} from "./transfer.ts";

/** Who sends to whom. */
const pairs: readonly (readonly [Speaker, Speaker])[] = [
  ["lockstep", "srt-live-transmit"],
  ["srt-live-transmit", "lockstep"],
  ["lockstep", "lockstep"],
];

/** A machine that stands still for longer than this keeps no latency of 300 ms. */
const longPauseMs = 100;
/** How often a run may be spoilt by the machine, and is done again. */
const spoiltRuns = 2;

interface Judgement {
  /** The figures, or what is wrong. */
  readonly result: string | Error;
  readonly pauseMs: number;
}

/** Carries the stream of one source over all at once, and judges each. */
async function run(all: readonly Roles[], seconds: number): Promise<Map<Roles, Judgement>> {
  const judgements = new Map<Roles, Judgement>();
  await onStage(async (stage) => {
    const { copy, outcomes } = await carry(stage, all, seconds);
    for (const outcome of outcomes) {
      const result = await stage.explained(() => judge(copy, outcome, seconds))()
        .catch((error: Error) => error);
      judgements.set(outcome.roles, { result, pauseMs: pauseOf(outcome) });
    }
  });
  return judgements;
}

/** The same; a run that went wrong while the machine stood still tells nothing and is repeated. */
async function runUnspoilt(
  all: readonly Roles[],
  seconds: number,
): Promise<Map<Roles, Judgement>> {
  for (let spoilt = 0;; spoilt++) {
    const judgements = await run(all, seconds);
    const bad = [...judgements.values()].filter(({ result }) => result instanceof Error);
    const pausesMs = bad.map(({ pauseMs }) => Math.round(pauseMs));
    if (bad.length === 0 || pausesMs.some((ms) => ms < longPauseMs) || spoilt === spoiltRuns) {
      return judgements;
    }
    console.log(`done again: the machine stood still for ${pausesMs.join(" and ")} ms`);
  }
}

async function carryAll(
  t: Deno.TestContext,
  all: readonly Roles[],
  seconds: number,
): Promise<void> {
  const possible = all.filter((roles) => installed(programsOf(roles)));
  const judgements = possible.length > 0
    ? await runUnspoilt(possible, seconds)
    : new Map<Roles, Judgement>();
  for (const roles of all) {
    const name = describeRoles(roles);
    await t.step(needing(programsOf(roles), name, () => {
      const result = judgements.get(roles)?.result;
      if (typeof result !== "string") throw result ?? new Error("It did not take place");
      console.log(`${name}: ${result}`);
    }));
  }
}

for (const caller of ["sender", "receiver"] as const) {
  Deno.test(`7 s at 8 Mb/s are bit-exact at 1 % loss; the ${caller} calls`, async (t) => {
    await carryAll(t, pairs.map(([sender, receiver]) => ({ sender, receiver, caller, path })), 7);
  });
}

Deno.test("60 s at 8 Mb/s are bit-exact at 1 % loss", async (t) => {
  const callers = ["sender", "receiver", "sender"] as const;
  const all = pairs.map(([sender, receiver], index): Roles => ({
    sender,
    receiver,
    caller: callers[index] ?? "sender",
    path,
  }));
  await carryAll(t, all, 60);
});

Deno.test("7 s at 8 Mb/s are bit-exact at 2 % loss over a round trip of 600 ms", async (t) => {
  const all = pairs.slice(0, 2).flatMap(([sender, receiver]): Roles[] => [
    { sender, receiver, caller: "sender", path: longPath },
    { sender, receiver, caller: "receiver", path: longPath },
  ]);
  await carryAll(t, all, 7);
});

Deno.test("7 s at 8 Mb/s by ffmpeg have no gap at 1 % loss", async (t) => {
  await carryAll(t, [
    { sender: "ffmpeg", receiver: "lockstep", caller: "sender", path },
    { sender: "lockstep", receiver: "ffmpeg", caller: "sender", path },
  ], 7);
});
