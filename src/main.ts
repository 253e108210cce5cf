/**
 * The program `lockstep`.
 *
 * @module
 */

import { main } from "./cli/mod.ts";

if (import.meta.main) Deno.exit(await main(Deno.args));
