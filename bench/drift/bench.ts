import type { ColumnSchema } from "../../core/datasets/shapes";
import { type ModelBaseline, measureModelDrift, sampleBaseline } from "../../core/drift/measure-model";
import type { ServedRow } from "../../core/drift/served-batch";
import { normalDraw, uniformDraws } from "../../core/evaluation/draws";
import { monitorDefinition } from "../../core/monitors/shapes";
import { numbersVersion } from "../../test/core/drift/columns-source";
import { parseOptions } from "../support/arguments";
import { startReport } from "../support/report";
import { markdownTable } from "../support/table";

const rows = 5_000;
const features = 50;

/**
 * Measures false alarms and misses of a monitor with the default thresholds: the decision is that of its windows, on rows
 * of features and predictions. `--windows N` (1,000), `--seed N`, `--json` for machines.
 */
export async function benchDrift(args: readonly string[]): Promise<void> {
  const { windows, seed, json } = parseOptions(args, { windows: 1_000, seed: 20_260_101 });
  const report = startReport(json);
  const target = { type: "model", model: "bench", everyRows: rows } as const;
  const { thresholds } = monitorDefinition.parse({ name: "bench", target });
  const draw = uniformDraws(seed);
  /** Half of the features are normal, a quarter log-normal, a quarter whole numbers. */
  const column = (index: number, shift: number) =>
    Float64Array.from({ length: rows }, () => {
      const value = normalDraw(draw) + shift;
      return index % 4 === 3 ? Math.round(10 * value) : index % 4 === 2 ? Math.exp(value) : value;
    });
  const columnsOf = (shifts: readonly number[]) =>
    Array.from({ length: features }, (_column, index) => column(index, shifts[index] ?? 0));
  const predictionColumn: ColumnSchema = { name: "prediction", type: "float", role: "feature" };

  async function measure(shifts: readonly number[]) {
    const before = numbersVersion(1, columnsOf([]));
    const trained: ModelBaseline = {
      ...{ model: "bench", version: 1, ...before, label: "label" },
      features: new Set(before.manifest.schema.map(({ name }) => name)),
      predictions: {
        column: predictionColumn,
        sample: { kind: "number", rows, missing: 0, values: column(0, 0).sort() },
      },
    };
    const after = columnsOf(shifts);
    const predictions = column(0, 0);
    const served = Array.from(
      { length: rows },
      (_row, row): ServedRow => ({
        row: Object.fromEntries(after.map((values, index) => [`x${index}`, values[row]])),
        prediction: predictions[row],
      }),
    );
    return measureModelDrift(
      await sampleBaseline(trained),
      {
        rowCount: rows,
        async *open() {
          yield served;
        },
      },
      thresholds,
    );
  }

  let [alarms, together, found, detected, wrong, foundTogether] = [0, 0, 0, 0, 0, 0];
  for (let window = 0; window < windows; window += 1) {
    const same = await measure([]);
    if (same.severity) alarms += 1;
    if (same.multivariate?.severity) together += 1;
    const shifted = window % features;
    const drifted = await measure(Array.from({ length: features }, (_shift, index) => (index === shifted ? 0.25 : 0)));
    if (drifted.severity) found += 1;
    if (drifted.columns[shifted]?.severity) detected += 1;
    if (drifted.multivariate?.severity) foundTogether += 1;
    wrong += drifted.columns.filter(({ severity }, index) => severity && index !== shifted).length;
    if (window % 10 === 9 && process.stderr.isTTY) process.stderr.write(`${window + 1} of ${windows} windows\r`);
  }
  const share = (count: number) => `${((100 * count) / windows).toFixed(1)} %`;
  report(
    { windows, alarms, together, found, detected, foundTogether, wrong },
    `${windows} windows of ${rows} rows and ${features} features, each against a baseline of as many rows`,
    "",
    markdownTable(
      ["check", "target", "measured"],
      [
        ["windows without drift that raise an alarm", "≤ 5 %", share(alarms)],
        ["– of which by the test of all columns together", "–", share(together)],
        ["windows with one feature shifted by 0.25 σ that raise an alarm", "≥ 95 %", share(found)],
        ["– that name the feature", "≥ 95 %", share(detected)],
        ["– found by the test of all columns together", "–", share(foundTogether)],
        ["other features reported in the same window, mean", "–", (wrong / windows).toFixed(4)],
      ],
    ),
  );
}
