/**
 * What a URI becomes: an endpoint of a flow, with the library's options by name.
 *
 * @module
 */

import type { Option } from "./query.ts";

/** Whether an endpoint is the input of a flow or one of its outputs. */
export type Direction = "input" | "output";

/** What an endpoint is; the names of `enum ls_endpoint_kind`. */
export type EndpointKind = "udp" | "srt" | "file" | "check";

/** One endpoint of a flow, as a person asked for it. */
export interface Endpoint {
  readonly kind: EndpointKind;
  readonly direction: Direction;
  /** The library's options of the endpoint. */
  readonly options: readonly Option[];
  /** The library's options of each link; only an SRT endpoint has links. */
  readonly links: readonly (readonly Option[])[];
  /** The URI in normal spelling: reading it again gives the same endpoint and the same text. */
  readonly uri: string;
  /** What was guessed or translated, one sentence each, for the person to see. */
  readonly notes: readonly string[];
  /** Whether it is standard input or standard output. */
  readonly standardStream: boolean;
}
