import type { Precision } from "../../core/runs/hyperparameters";
import { startReport } from "../support/report";
import { markdownTable } from "../support/table";
import { precisionModels } from "./models";
import { parsePrecisionOptions } from "./options";
import { type Trained, trainIn } from "./train";

interface Line extends Trained {
  readonly model: string;
  readonly precision: Precision;
  readonly seeds: number;
  /** Validation loss over that of float32, minus 1. */
  readonly difference: number;
}

const columns = ["model", "precision", "validation loss", "against float32", "accuracy", "skipped steps", "CPU s"];

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

const cellsOf = (line: Line): readonly string[] => [
  line.model,
  line.precision,
  line.validationLoss.toFixed(5),
  line.precision === "float32" ? "–" : `${line.difference < 0 ? "" : "+"}${(100 * line.difference).toFixed(2)} %`,
  line.accuracy.toFixed(4),
  line.skippedSteps.toFixed(0),
  line.cpuSeconds.toFixed(0),
];

/** Trains models in each precision, and compares their validation losses. Options are in `options.ts`. */
export async function benchPrecision(args: readonly string[]): Promise<void> {
  const { models, seeds, epochs, precisions, json } = parsePrecisionOptions(args);
  const report = startReport(json);
  const lines: Line[] = [];
  for (const model of models) {
    const setup = precisionModels[model]!;
    const data = setup.load();
    let float32 = Number.NaN;
    for (const precision of precisions) {
      const runs: Trained[] = [];
      for (const seed of seeds) runs.push(await trainIn(setup, data, { precision, seed, epochs }));
      const of = (field: keyof Trained): number => mean(runs.map((each) => each[field]));
      const validationLoss = of("validationLoss");
      if (precision === "float32") float32 = validationLoss;
      lines.push({
        model,
        precision,
        seeds: seeds.length,
        validationLoss,
        difference: validationLoss / float32 - 1,
        accuracy: of("accuracy"),
        skippedSteps: of("skippedSteps"),
        cpuSeconds: of("cpuSeconds"),
      });
    }
  }
  report(
    { epochs, seeds: seeds.length, lines },
    `${epochs} epochs, means over ${seeds.length} seeds; CPU time of one training`,
    "",
    markdownTable(columns, lines.map(cellsOf)),
  );
}
