/**
 * `struct ls_event` from bytes to a record.
 *
 * @module
 */

import { eventKinds, eventSize, eventTextSize, flowStates, linkStates } from "./symbols.ts";

/** States of a flow or relay. */
export type FlowState = keyof typeof flowStates;

/** States of a link. */
export type LinkState = keyof typeof linkStates;

/** What happened, without who it happened to. */
export type Happening =
  | { readonly kind: "flow_state"; readonly state: FlowState }
  | { readonly kind: "link_state"; readonly state: LinkState }
  | { readonly kind: "warning" }
  /** So many events did not fit, because they were not read. */
  | { readonly kind: "lost"; readonly count: number };

/** A decoded event. */
export type RawEvent = Happening & {
  /** Handle of the flow or relay. */
  readonly handle: bigint;
  /** Endpoint or link, or -1. */
  readonly index: number;
  /** Milliseconds since 1970. */
  readonly atMs: number;
  /** A sentence, or empty. */
  readonly text: string;
};

/**
 * Decodes one event.
 *
 * @throws {RangeError} a kind or state that the header does not have: the ABI check makes that a
 * defect, not something to go on with.
 */
export function decodeEvent(block: Uint8Array<ArrayBuffer>): RawEvent {
  const view = new DataView(block.buffer, block.byteOffset, eventSize);
  const code = view.getInt32(4, true);
  const low = view.getUint32(24, true);
  const atMs = (view.getInt32(28, true) * 0x1_0000_0000 + low) / 1e6;
  const textBytes = block.subarray(eventSize - eventTextSize, eventSize);
  const end = textBytes.indexOf(0);
  return {
    ...happening(view.getUint32(0, true), code),
    handle: view.getBigInt64(8, true),
    index: view.getInt32(16, true),
    atMs,
    text: new TextDecoder().decode(end < 0 ? textBytes : textBytes.subarray(0, end)),
  };
}

function happening(kind: number, code: number): Happening {
  switch (kind) {
    case eventKinds.flow_state:
      return { kind: "flow_state", state: nameOf(flowStates, code) };
    case eventKinds.link_state:
      return { kind: "link_state", state: nameOf(linkStates, code) };
    case eventKinds.warning:
      return { kind: "warning" };
    case eventKinds.lost:
      return { kind: "lost", count: code };
    default:
      throw new RangeError(`There is no event kind ${kind}`);
  }
}

/** The name of a number of an enumeration. */
export function nameOf<T extends Readonly<Record<string, number>>>(
  names: T,
  value: number,
): Extract<keyof T, string> {
  for (const name in names) if (names[name] === value) return name;
  throw new RangeError(`There is no ${value} in ${Object.keys(names).join(", ")}`);
}
