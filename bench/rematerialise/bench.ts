import { join } from "node:path";
import type { Rematerialise } from "../../core/runs/model-definition";
import { parseOptions } from "../support/arguments";
import { LineProcess } from "../support/line-process";
import { median } from "../support/median";
import { startReport } from "../support/report";
import { markdownTable } from "../support/table";
import { pinning } from "../train/gangs";
import type { Measured, Setup } from "./protocol";

interface Line extends Measured {
  readonly name: string;
}

/** Measures in a process of its own, which no other training has left memory in. */
async function measure(name: string, setup: Setup): Promise<Line> {
  const script = [join(__dirname, "rematerialise-worker.js"), JSON.stringify(setup)];
  const worker = pinning.includes("pinned to")
    ? new LineProcess("taskset", ["-c", "0", process.execPath, ...script])
    : new LineProcess(process.execPath, script);
  return { name, ...(await worker.receive<Measured>()) };
}

const peakOf = ({ firstPeak, peak }: Measured): number => Math.max(firstPeak, peak);
const mebibytes = (bytes: number): string => Math.round(bytes / 2 ** 20).toLocaleString("en");
const ratio = (value: number, of: number): string => (value / of).toFixed(2);

/** Measures memory and processor time of a transformer with and without rematerialisation. */
export async function benchRematerialise(args: readonly string[]): Promise<void> {
  const values = parseOptions(args, { layers: 12, rows: 8, steps: 5, dropout: 0 });
  const { layers, dropout } = values;
  const report = startReport(values.json);
  const shape = { inputShape: [128], outputs: 10, task: "classification" } as const;
  const size = { vocabulary: 1_000, features: 256, heads: 8, layers, dropout };
  const model = { type: "transformer", ...size, ...shape } as const;
  const setup = { model, rows: values.rows, steps: values.steps };
  // Each block ends in its second addition.
  const blocks = Array.from({ length: layers - 1 }, (_, index) => `add_Add${2 * (index + 1)}`);
  const modes: Readonly<Record<string, Rematerialise>> = { none: "none", "output of each block": blocks };
  const lines: Line[] = [];
  for (const [name, rematerialise] of Object.entries(modes)) {
    lines.push(await measure(name, { ...setup, rematerialise }));
  }
  const [whole] = lines as [Line];
  const sameBits = lines.every(({ sha256 }) => sha256 === whole.sha256);
  const cells = lines.map((line) => [
    line.name,
    mebibytes(line.baseline),
    mebibytes(peakOf(line)),
    ratio(peakOf(line), peakOf(whole)),
    median(line.cpuMs).toFixed(0),
    ratio(median(line.cpuMs), median(whole.cpuMs)),
    line.sha256.slice(0, 16),
  ]);
  const columns = ["kept", "before, MiB", "peak above, MiB", "÷ none", "CPU ms / step", "÷ none", "SHA-256 of weights"];
  const { rows } = setup;
  report(
    { setup, lines, sameBits },
    `transformer, ${layers} layers, d = 256, context 128, ${rows} rows, dropout ${dropout}; one thread`,
    "",
    markdownTable(columns, cells),
  );
  if (!sameBits) throw new Error("the weights differ");
}
