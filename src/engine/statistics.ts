/**
 * Blocks of statistics from bytes to records.
 *
 * @module
 */

import type { Scope } from "../../ffi/statistics.ts";
import { layout, type StatisticsOf } from "./statistics.gen.ts";

/** Each value takes eight bytes. */
const valueSize = 8;

/** Size of the block of a scope in bytes. */
export function blockSize(scope: Scope): number {
  return layout[scope].length * valueSize;
}

/**
 * The record of a block. Integers are put together from two halves, exact up to 2^53, which a count
 * of nanoseconds reaches after 104 days and then loses single ones of.
 */
export function decodeStatistics<S extends Scope>(scope: S, block: DataView): StatisticsOf[S] {
  const record: Record<string, number> = {};
  layout[scope].forEach(({ name, type }: { name: string; type: string }, index) => {
    record[name] = decodeValue(type, block, index * valueSize);
  });
  // The generated layout and the generated interface are made from the same table.
  return record as unknown as StatisticsOf[S];
}

function decodeValue(type: string, block: DataView, at: number): number {
  if (type === "f64") return block.getFloat64(at, true);
  const low = block.getUint32(at, true);
  const high = type === "i64" ? block.getInt32(at + 4, true) : block.getUint32(at + 4, true);
  return high * 0x1_0000_0000 + low;
}
