import pc from "picocolors";
import { formatDuration, formatRate } from "../core/quantities";
import { isOpen, phases } from "../core/runs/run-states";
import type { RunDetails } from "../core/runs/shapes";

/** Draws a run: its steps, a bar for each worker, loss, speed and remaining time, as one string for each line. */
export function drawRun(details: RunDetails, columns: number): readonly string[] {
  const { run } = details;
  return [
    `${pc.bold(run.runId)}  ${colored(run.status)}${run.phase ? `  ${run.phase}` : ""}`,
    ...phases.map((phase) => drawPhase(phase, details)),
    ...drawTraining(details, columns),
  ].map((line) => cut(line, columns));
}

function drawPhase(phase: (typeof phases)[number], { run, steps }: RunDetails): string {
  const record = steps.find((one) => one.step === phase);
  if (record?.reusedFrom) return `  ${pc.cyan("↺")} ${phase}  ${pc.dim(`reused from ${record.reusedFrom}`)}`;
  if (record) {
    const took = formatDuration(Date.parse(record.finishedAt) - Date.parse(record.startedAt));
    return `  ${pc.green("✔")} ${phase}  ${pc.dim(took)}`;
  }
  // A phase may leave no record. It is done when the run is past it.
  const at = run.phase ? phases.indexOf(run.phase) : -1;
  if (at > phases.indexOf(phase) || run.status === "completed") return `  ${pc.green("✔")} ${phase}`;
  if (run.phase === phase) return isOpen(run.status) ? `  ${pc.yellow("▸")} ${phase}` : `  ${pc.red("✘")} ${phase}`;
  return `  ${pc.dim(`· ${phase}`)}`;
}

function drawTraining({ run, progress }: RunDetails, columns: number): readonly string[] {
  if (!progress || run.phase !== "LaunchTraining") return [];
  const left = progress.totalSteps - progress.step;
  const batch = run.job.hyperparameters.batchSize;
  const eta = progress.samplesPerSecond > 0 ? formatDuration((1000 * left * batch) / progress.samplesPerSecond) : "?";
  const width = Math.max(10, Math.min(40, columns - 50));
  return [
    `  loss ${progress.loss?.toFixed(4) ?? "–"}   ${formatRate(progress.samplesPerSecond)}   epoch ${progress.epoch}/${progress.epochs}   ETA ${eta}   generation ${progress.generation}   ${progress.backend}`,
    ...progress.workers.map((worker) => {
      const share = worker.step / Math.max(1, progress.totalSteps);
      const full = Math.min(width, Math.round(share * width));
      const bar = `${"█".repeat(full)}${pc.dim("░".repeat(width - full))}`;
      return `  rank ${worker.rank} ${bar} ${worker.step}/${progress.totalSteps}  pid ${worker.pid}  ${worker.state}`;
    }),
  ];
}

function colored(status: string): string {
  if (status === "completed") return pc.green(status);
  if (status === "failed" || status === "killed") return pc.red(status);
  return pc.yellow(status);
}

/** Truncates a line, because a wrapped line would leave remains when it is redrawn. Escape sequences have no width. */
function cut(line: string, columns: number): string {
  let room = columns - 1;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminal colours are control characters
  return line.replace(/\x1b\[\d+m|./gsu, (part) => (part.startsWith("\x1b[") ? part : room-- > 0 ? part : ""));
}
