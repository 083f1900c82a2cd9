import { markdownTable } from "../support/table";
import type { Measures } from "./race";

export interface Line extends Measures {
  readonly model: string;
  readonly batchSize: number;
  readonly worldSize: number;
  /** `native, V = 2`, `PyTorch DDP`. */
  readonly who: string;
  /** Samples/s relative to the same number of separate trainings at the same time: the median over the rounds. */
  readonly overApart: number | undefined;
  /** Samples/s relative to one worker in the same row; undefined for one worker. */
  readonly scaling: number | undefined;
}

const columns = [
  "model",
  "batch",
  "workers",
  "",
  "samples/s",
  "÷ PyTorch",
  "CPU ms / 1,000",
  "÷ PyTorch",
  "÷ apart",
  "scaling",
];

export function renderTable(lines: readonly Line[]): string {
  const rows = lines.map((line) => [
    line.model,
    String(line.batchSize),
    String(line.worldSize),
    line.who,
    Math.round(line.samplesPerSecond).toLocaleString("en"),
    line.overPeer?.toFixed(2) ?? "–",
    line.cpuMsPerThousand.toFixed(1),
    line.cpuOverPeer?.toFixed(2) ?? "–",
    line.overApart?.toFixed(2) ?? "–",
    line.scaling?.toFixed(2) ?? "–",
  ]);
  return markdownTable(columns, rows);
}
