/**
 * The library, liblockstep, as objects.
 *
 * @module
 */

export { Engine, type EngineEvent, Flow, type Kind, Relay } from "./engine.ts";
export { LibraryError, LockstepError } from "./errors.ts";
export type { FlowState, LinkState } from "./event.ts";
export { libraryVariable, load } from "./ffi.ts";
export { type Progress, Simulation } from "./simulation.ts";
export { flowStates, linkStates } from "./symbols.ts";
export type {
  EndpointStatistics,
  EngineStatistics,
  FlowStatistics,
  LinkStatistics,
  RelayStatistics,
  SimulationStatistics,
} from "./statistics.gen.ts";
