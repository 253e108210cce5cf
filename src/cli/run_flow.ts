/**
 * A flow or a relay until its end, with statistics now and then.
 *
 * @module
 */

import type { Flow, Relay } from "../engine/mod.ts";
import { type FlowSession, Timer } from "./session.ts";
import type { Stopping } from "./signals.ts";

/** How something ended. */
export type End =
  /** By itself: its input or its connection ended. */
  | { readonly kind: "ended"; readonly reason: string }
  /** It was asked to, by a signal or because its time was over. */
  | { readonly kind: "stopped" }
  /** It was asked to and did not in time, or was cut short. */
  | { readonly kind: "cut" };

/** What to do meanwhile. */
export interface RunOptions {
  readonly stopping: Stopping;
  /** Stop after this time. */
  readonly forMs: number | undefined;
  /** Call `tick` that often. */
  readonly everyMs: number | undefined;
  readonly tick: () => void;
}

/**
 * Waits until a flow or relay that was started has ended, and stops it when it is time to. It is
 * left open, so that its last statistics can be read.
 */
export async function waitForEnd(
  session: FlowSession,
  owner: Flow | Relay,
  { stopping, forMs, everyMs, tick }: RunOptions,
): Promise<End> {
  const ticking = everyMs === undefined ? undefined : setInterval(tick, everyMs);
  try {
    using limit = new Timer(forMs ?? Number.POSITIVE_INFINITY, stopping.stop);
    const reason = await Promise.race([
      session.ended(owner),
      limit.over.then(() => undefined),
    ]);
    if (reason !== undefined) return { kind: "ended", reason };
    return { kind: await session.stop(owner, stopping.force) ? "stopped" : "cut" };
  } finally {
    clearInterval(ticking);
  }
}
