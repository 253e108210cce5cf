/**
 * Ctrl-C and its relatives.
 *
 * @module
 */

/**
 * Through npx one Ctrl-C arrives twice, from the terminal and from npx: within this time the second
 * one is the same.
 */
const sameSignalMs = 1000;

/** What the person in front of the process wants. */
export interface Stopping {
  /** Aborted by the first SIGINT, SIGTERM or SIGHUP: end in order. */
  readonly stop: AbortSignal;
  /** Aborted by a later one: end at once. */
  readonly force: AbortSignal;
}

/** Turns signals into wishes; apart from `withSignals` for tests. */
export class SignalCounter {
  readonly #stop = new AbortController();
  readonly #force = new AbortController();
  #lastMs = Number.NEGATIVE_INFINITY;

  readonly stopping: Stopping = { stop: this.#stop.signal, force: this.#force.signal };

  /** A signal arrived. */
  signal(nowMs: number): void {
    if (nowMs - this.#lastMs < sameSignalMs) return;
    this.#lastMs = nowMs;
    if (this.#stop.signal.aborted) this.#force.abort();
    else this.#stop.abort();
  }
}

/** Runs something that ends in order when the process is signalled. */
export async function withSignals<T>(run: (stopping: Stopping) => Promise<T>): Promise<T> {
  const counter = new SignalCounter();
  const listener = (): void => counter.signal(performance.now());
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) Deno.addSignalListener(signal, listener);
  try {
    return await run(counter.stopping);
  } finally {
    for (const signal of signals) Deno.removeSignalListener(signal, listener);
  }
}
