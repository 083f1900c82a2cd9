import { measureDrift } from "../../core/drift/measure";
import { defaultThresholds } from "../../core/drift/shapes";
import { normalDraw, uniformDraws } from "../../core/evaluation/draws";
import { numbersVersion } from "../../test/core/drift/columns-source";
import { describeMachine, machineLine } from "../support/machine";
import { markdownTable } from "../support/table";

const rows = 5_000;
const features = 50;

/** Measures a monitor's false alarms and misses. `--windows N` (1,000), `--json` for machines. */
export async function benchDrift(args: readonly string[]): Promise<void> {
  const windows = Number(args.includes("--windows") ? args[args.indexOf("--windows") + 1] : 1_000);
  const draw = uniformDraws(20_260_101);
  /** Half of the features are normal, a quarter log-normal, a quarter whole numbers. */
  const column = (index: number, shift: number) =>
    Float64Array.from({ length: rows }, () => {
      const value = normalDraw(draw) + shift;
      return index % 4 === 3 ? Math.round(10 * value) : index % 4 === 2 ? Math.exp(value) : value;
    });
  const version = (number: number, shifts: readonly number[]) =>
    numbersVersion(
      number,
      Array.from({ length: features }, (_column, index) => column(index, shifts[index] ?? 0)),
    );
  const measure = async (shifts: readonly number[]) =>
    (await measureDrift(version(1, []), version(2, shifts), defaultThresholds)).columns;

  let alarms = 0;
  let detected = 0;
  let wrong = 0;
  for (let window = 0; window < windows; window += 1) {
    if ((await measure([])).some(({ severity }) => severity)) alarms += 1;
    const shifted = window % features;
    const columns = await measure(Array.from({ length: features }, (_shift, index) => (index === shifted ? 0.25 : 0)));
    if (columns[shifted]!.severity) detected += 1;
    wrong += columns.filter(({ severity }, index) => severity && index !== shifted).length;
    if (window % 50 === 49 && process.stderr.isTTY) process.stderr.write(`${window + 1} of ${windows} windows\r`);
  }
  const machine = describeMachine();
  if (args.includes("--json")) {
    process.stdout.write(`${JSON.stringify({ machine, windows, alarms, detected, wrong })}\n`);
    return;
  }
  const share = (count: number) => `${((100 * count) / windows).toFixed(1)} %`;
  process.stdout.write(
    `${machineLine(machine)}\n${windows} windows of ${rows} rows and ${features} features, each against a baseline of as many rows\n\n${markdownTable(
      ["check", "target", "measured"],
      [
        ["windows without drift that raise an alarm", "≤ 5 %", share(alarms)],
        ["one feature shifted by 0.25 σ: found", "≥ 95 %", share(detected)],
        ["other features reported in the same window, mean", "–", (wrong / windows).toFixed(4)],
      ],
    )}\n`,
  );
}
