/** A stream to and from libsrt and between ourselves, over a path that delays and loses. */
import { installed, needing } from "./programs.ts";
import { onStage } from "./stage.ts";
import { carry, describeRoles, judge, programsOf, type Roles, type Speaker } from "./transfer.ts";

/** Who sends to whom. */
const pairs: readonly (readonly [Speaker, Speaker])[] = [
  ["lockstep", "srt-live-transmit"],
  ["srt-live-transmit", "lockstep"],
  ["lockstep", "lockstep"],
];

/** Carries the stream of one source over all at once; each is judged by itself. */
async function carryAll(
  t: Deno.TestContext,
  all: readonly Roles[],
  seconds: number,
): Promise<void> {
  await onStage(async (stage) => {
    const possible = all.filter((roles) => installed(programsOf(roles)));
    const { copy, outcomes } = await carry(stage, possible, seconds);
    for (const roles of all) {
      const name = describeRoles(roles);
      const judgement = stage.explained(async () => {
        const outcome = outcomes.find((one) => one.roles === roles);
        if (outcome === undefined) throw new Error("It did not take place");
        console.log(`${name}: ${await judge(copy, outcome, seconds)}`);
      });
      await t.step(needing(programsOf(roles), name, judgement));
    }
  });
}

for (const caller of ["sender", "receiver"] as const) {
  Deno.test(`7 s at 8 Mb/s are bit-exact at 1 % loss; the ${caller} calls`, async (t) => {
    await carryAll(t, pairs.map(([sender, receiver]) => ({ sender, receiver, caller })), 7);
  });
}

Deno.test("60 s at 8 Mb/s are bit-exact at 1 % loss", async (t) => {
  const callers = ["sender", "receiver", "sender"] as const;
  const all = pairs.map(([sender, receiver], index): Roles => ({
    sender,
    receiver,
    caller: callers[index] ?? "sender",
  }));
  await carryAll(t, all, 60);
});
