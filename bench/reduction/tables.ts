import { median } from "../support/median";
import type { Contender } from "./contenders";
import type { CurveLine } from "./curves";
import type { ErrorLine } from "./errors";
import type { OrderLine } from "./gang";

export interface TimeLine {
  readonly elements: number;
  readonly method: string;
  /** CPU time of summing V leaves, per element. */
  readonly nanoseconds: number;
  readonly bytesPerElement: number;
  readonly exponentBytesPerElement: number;
}

const row = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;

function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  return [row(columns), row(columns.map((_, i) => (i === 0 ? "---" : "--:"))), ...rows.map(row)].join("\n");
}

const small = (value: number) => (value === 0 ? "0" : value.toExponential(1));

export function renderErrors(lines: readonly ErrorLine[]): string {
  return table(
    ["leaves of", "sum", "error of the norm", "of an element, median", "99th percentile", "lost to zero"],
    lines.map((line) => [
      line.vector,
      line.method,
      small(line.relativeNorm),
      small(line.median),
      small(line.percentile99),
      `${(line.lost * 100).toPrecision(2)} %`,
    ]),
  );
}

export function renderTimes(lines: readonly TimeLine[]): string {
  return table(
    ["sum of 8 leaves", "elements", "ns an element", "bytes an element", "and before, for exponents"],
    lines.map((line) => [
      line.method,
      line.elements.toLocaleString("en"),
      line.nanoseconds.toPrecision(2),
      String(line.bytesPerElement),
      line.exponentBytesPerElement === 0 ? "" : line.exponentBytesPerElement.toPrecision(2),
    ]),
  );
}

const contenderNames: Readonly<Record<Contender, string>> = {
  canonical: "float32, canonical",
  arrival: "float32, by arrival",
  bfloat16: "bfloat16, canonical",
  float16: "float16, canonical",
};

/** Renders ratios to the fastest order. */
export function renderOrders(lines: readonly OrderLine[]): string {
  const micros = (value: number) => `${Math.round(value).toLocaleString("en")} µs`;
  return table(
    ["all-reduce", "ranks", "elements", "time", "÷ by arrival", "CPU time a rank", "÷ by arrival"],
    lines.map((line) => {
      const fastest = lines.find(
        ({ worldSize, elements, contender }) =>
          worldSize === line.worldSize && elements === line.elements && contender === "arrival",
      );
      const ratio = (own: number, base: number | undefined) => (base === undefined ? "" : (own / base).toFixed(2));
      return [
        contenderNames[line.contender],
        String(line.worldSize),
        line.elements.toLocaleString("en"),
        micros(line.micros),
        ratio(line.micros, fastest?.micros),
        micros(line.cpuMicros),
        ratio(line.cpuMicros, fastest?.cpuMicros),
      ];
    }),
  );
}

export function renderCurves(lines: readonly CurveLine[]): string {
  const names = [...new Set(lines.map(({ method }) => method))];
  const spread = (values: readonly number[], digits: number) =>
    `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)}–${Math.max(...values).toFixed(digits)})`;
  return table(
    ["training with", "train loss, last fifth", "validation loss", "accuracy"],
    names.map((name) => {
      const own = lines.filter(({ method }) => method === name);
      return [
        name,
        spread(
          own.map(({ trainLoss }) => trainLoss),
          5,
        ),
        spread(
          own.map(({ validationLoss }) => validationLoss),
          5,
        ),
        spread(
          own.map(({ accuracy }) => accuracy),
          4,
        ),
      ];
    }),
  );
}
