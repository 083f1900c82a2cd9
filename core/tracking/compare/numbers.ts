import type { EncodedValue } from "../metric-values";

/** Five significant digits, without trailing noise; `NaN` and the infinities as they are. */
export function numberText(value: EncodedValue): string {
  if (typeof value === "string") return value === "Infinity" ? "∞" : value === "-Infinity" ? "−∞" : "NaN";
  return String(Number(value.toPrecision(5))).replace("-", "−");
}

/** `+0.012`, `−3.4 %`. */
export function deltaText(delta: number, relativeDelta: number | undefined): string {
  const sign = delta > 0 ? "+" : "";
  const relative =
    relativeDelta === undefined
      ? ""
      : ` (${sign}${String(Number((relativeDelta * 100).toPrecision(3))).replace("-", "−")} %)`;
  return `${sign}${numberText(delta)}${relative}`;
}

/** `2026-03-01 12:00:05` in UTC. */
export function timeText(milliseconds: number): string {
  const date = new Date(milliseconds);
  return Number.isNaN(date.getTime()) ? String(milliseconds) : date.toISOString().slice(0, 19).replace("T", " ");
}
