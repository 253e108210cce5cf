/**
 * Numbers for people: rounded, with a unit.
 *
 * @module
 */

/** A bit rate with three digits: `8.00 Mbps`. */
export function showRate(bps: number): string {
  return scaled(bps, [[1e9, "Gbps"], [1e6, "Mbps"], [1e3, "kbps"], [1, "bps"]]);
}

/** A duration with three digits: `40.2 ms`. */
export function showDuration(ns: number): string {
  if (ns >= 120e9) return showTime(ns);
  return scaled(ns, [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]]);
}

/** Hours, minutes and seconds: `1:02:03`. */
export function showTime(ns: number): string {
  const seconds = Math.floor(ns / 1e9);
  const two = (value: number): string => value.toString().padStart(2, "0");
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

/** A count with blanks between thousands: `12 345`. */
export function showCount(count: number): string {
  return count.toString().replaceAll(/\B(?=(\d{3})+$)/g, " ");
}

/** A share of a whole: `1.00 %`; `0 %` of nothing. */
export function showShare(part: number, whole: number): string {
  return part === 0 ? "0 %" : `${(100 * part / whole).toPrecision(3)} %`;
}

function scaled(value: number, units: readonly (readonly [number, string])[]): string {
  if (value === 0) return `0 ${units.at(-1)?.[1]}`;
  const [factor, unit] = units.find(([factor]) => Math.abs(value) >= 0.9995 * factor) ??
    units.at(-1) ?? [1, ""];
  const number = value / factor;
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(number) * 1.0005)));
  return `${number.toFixed(Math.min(digits, factor === 1 ? 0 : 2))} ${unit}`;
}
