/**
 * From resolved endpoints to a flow of the library.
 *
 * @module
 */

import { ConfigError, type NumericOption, type ResolvedEndpoint } from "../config/mod.ts";
import { type Engine, type Flow, LockstepError } from "../engine/mod.ts";

/** An endpoint of a flow, with the numbers that the library gave it and its links. */
export interface BuiltEndpoint {
  /** `input`, `output`, or `output 2` where there are several. */
  readonly label: string;
  readonly uri: string;
  readonly index: number;
  readonly links: readonly number[];
}

/** A flow that is ready to start. */
export interface BuiltFlow {
  readonly flow: Flow;
  readonly input: BuiltEndpoint;
  readonly outputs: readonly BuiltEndpoint[];
}

/** The endpoint that owns a link or is an endpoint of that number. */
export function endpointOf(built: BuiltFlow, index: number): BuiltEndpoint | undefined {
  const endpoints = [built.input, ...built.outputs];
  return endpoints.find((endpoint) => endpoint.index === index || endpoint.links.includes(index));
}

/**
 * Opens a flow with these endpoints and options; it is not started.
 *
 * @throws {ConfigError} the library does not accept an option.
 * @throws {LockstepError} a limit of the library.
 */
export function buildFlow(
  engine: Engine,
  input: ResolvedEndpoint,
  outputs: readonly ResolvedEndpoint[],
  options: readonly NumericOption[],
): BuiltFlow {
  const flow = engine.openFlow();
  for (const { name, value } of options) accept(name, () => flow.option(name, value));
  const label = (at: number): string => outputs.length === 1 ? "output" : `output ${at + 1}`;
  return {
    flow,
    input: addEndpoint(flow, input, "input"),
    outputs: outputs.map((output, at) => addEndpoint(flow, output, label(at))),
  };
}

function addEndpoint(flow: Flow, endpoint: ResolvedEndpoint, label: string): BuiltEndpoint {
  const index = flow.addEndpoint(endpoint.direction, endpoint.kind);
  setOptions(flow, index, endpoint.options, label);
  const links = endpoint.links.map((options) => {
    const link = flow.addLink(index);
    setOptions(flow, link, options, label);
    return link;
  });
  return { label, uri: endpoint.uri, index, links };
}

function setOptions(
  flow: Flow,
  index: number,
  options: readonly NumericOption[],
  label: string,
): void {
  for (const { name, value } of options) accept(label, () => flow.optionOf(index, name, value));
}

/** The library's refusal of an option is one of the command line. */
export function accept(label: string, set: () => void): void {
  try {
    set();
  } catch (error) {
    const refused = error instanceof LockstepError &&
      (error.name === "LS_EINVAL" || error.name === "LS_EOPTION");
    throw refused ? new ConfigError(`${label}: ${error.message}`, { cause: error }) : error;
  }
}
