/** One way to train one model on one world. */
export interface Line {
  readonly model: string;
  readonly batchSize: number;
  readonly worldSize: number;
  /** `native V=2`, `PyTorch DDP`. */
  readonly who: string;
  /** Medians over the rounds. */
  readonly samplesPerSecond: number;
  /** Of all workers, for a thousand samples. */
  readonly cpuMsPerThousand: number;
  /** Median of each round's ratio to the peer in the same round. */
  readonly overPeer: number | undefined;
  readonly cpuOverPeer: number | undefined;
  /** Samples/s on this world over those on one worker, same row; undefined on one worker. */
  readonly scaling: number | undefined;
}

const columns = ["model", "batch", "workers", "", "samples/s", "÷ PyTorch", "CPU ms / 1,000", "÷ PyTorch", "scaling"];

/** Markdown. */
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
    line.scaling?.toFixed(2) ?? "–",
  ]);
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(columns), line(["---", "--:", "--:", "---", ...Array(5).fill("--:")]), ...rows.map(line)].join("\n");
}
