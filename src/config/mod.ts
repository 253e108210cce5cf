/**
 * Text from people to typed options: units, URIs, addresses, impairments. Pure, but for `resolve`,
 * which asks the system's resolver.
 *
 * @module
 */

export { type Address, formatAddress, parseAddress } from "./address.ts";
export type { Direction, Endpoint, EndpointKind } from "./types.ts";
export { ConfigError, quote, within } from "./error.ts";
export {
  impairmentFlags,
  impairments,
  type ImpairmentSettings,
  readImpairments,
  readRelayAddress,
} from "./impairment.ts";
export { suggest } from "./nearest.ts";
export {
  type NumericOption,
  resolveAddress,
  type ResolvedEndpoint,
  resolveEndpoint,
} from "./resolve.ts";
export type { Scenario, ScenarioLink } from "./scenario.ts"; // its reader loads two packages
export {
  formatDuration,
  formatRate,
  formatShare,
  formatSize,
  parseClockError,
  parseDuration,
  parseInteger,
  parseRate,
  parseShare,
  parseSize,
} from "./units.ts";
export { normalise, parseUri } from "./uri.ts";
