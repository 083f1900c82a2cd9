import pc from "picocolors";
import type { ApiClient } from "../client/api-client";
import { testPrefix } from "../core/evaluation/metric-goal";
import { summaryMetrics } from "../core/evaluation/metrics";
import { evaluationKind } from "../core/evaluation/shapes";
import { formatCount, formatDuration, formatRate } from "../core/quantities";
import { stoppingText } from "../core/runs/early-stopping";
import { outcomeText } from "../core/runs/run";
import { isOpen, phases } from "../core/runs/run-states";
import type { Run, RunDetails } from "../core/runs/shapes";
import { findOutput } from "../core/runs/step";
import { trainingKind } from "../core/runs/training-task";
import { exitCodes, formatNumber, printJson, printTable, shownText } from "./output";
import { type Awaited, awaitedBy } from "./waiting";

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

const pollMs = 500;

interface WatchOptions {
  readonly quiet?: boolean;
  /** Prints the run's id first. From then on, Ctrl-C shows how to continue. */
  readonly printId?: boolean;
  /** Continues while the run waits for a person. */
  readonly throughApproval?: boolean;
}

type WatchedRun = RunDetails & { readonly awaited: readonly Awaited[] };

/**
 * Follows a run until it ends, or waits for a check, an approval or a canary's test: a command must not wait for
 * people.
 */
export async function watchRun(client: ApiClient, runId: string, options: WatchOptions = {}): Promise<WatchedRun> {
  const interrupted = (): never => reportInterrupt(runId, options.quiet === true);
  process.once("SIGINT", interrupted);
  try {
    if (options.printId && !options.quiet) process.stdout.write(`${runId}\n`);
    return await follow(client, runId, options);
  } finally {
    process.removeListener("SIGINT", interrupted);
  }
}

/** Ends this process like a shell expects on Ctrl-C; the run is not affected. */
function reportInterrupt(runId: string, json: boolean): never {
  const message = `${runId} continues without this command`;
  const hints = { watch: `ringmaster runs watch ${runId}`, cancel: `ringmaster runs cancel ${runId}` };
  if (json) printJson({ error: { code: "INTERRUPTED", message, details: { runId, ...hints } } });
  process.stderr.write(`\n${message}\n  watch it:  ${hints.watch}\n  cancel it: ${hints.cancel}\n`);
  process.exit(exitCodes.interrupted);
}

async function follow(client: ApiClient, runId: string, options: WatchOptions): Promise<WatchedRun> {
  const live = process.stdout.isTTY === true && !options.quiet;
  const log = options.quiet || live ? () => undefined : changeLog();
  let drawn = 0;
  for (;;) {
    const details = await client.run(runId);
    if (live) {
      const lines = drawRun(details, process.stdout.columns ?? 100);
      process.stdout.write(`${drawn > 0 ? `\x1b[${drawn}A\x1b[J` : ""}${lines.join("\n")}\n`);
      drawn = lines.length;
    }
    log(details);
    const awaited = await awaitedBy(client, details);
    if (!isOpen(details.run.status) || (awaited.length > 0 && !options.throughApproval)) {
      if (live)
        for (const line of [...stoppingLines(details), ...warningLines(details)]) process.stdout.write(`${line}\n`);
      if (!options.quiet) {
        printTestMetrics(details);
        process.stdout.write(`${closingLines(details, awaited).join("\n")}\n`);
      }
      return { ...details, awaited };
    }
    await new Promise((wait) => setTimeout(wait, pollMs));
  }
}

function closingLines(details: RunDetails, awaited: readonly Awaited[]): readonly string[] {
  const waits = awaited.map(({ what, command }) => `${pc.yellow(`waiting for ${what}`)}: ${command}`);
  return isOpen(details.run.status) ? waits : [closingLine(details), ...failedNext(details), ...waits];
}

/** Returns the line that tells where training with early stopping ended, once it has. */
function stoppingLines(details: RunDetails): readonly string[] {
  const training = findOutput(details, trainingKind);
  return training?.earlyStopping ? [stoppingText(training.earlyStopping, training.epochs)] : [];
}

export function warningLines({ warnings }: Pick<RunDetails, "warnings">): readonly string[] {
  return warnings.map(({ message }) => `${pc.yellow("warning")}: ${shownText(message)}`);
}

/** Returns the next step for a failed run: the workers' logs, if there are any. */
function failedNext({ run, attempts }: RunDetails): readonly string[] {
  if (run.status !== "failed") return [];
  return [`for details: ringmaster runs ${attempts.length > 0 ? "logs" : "show"} ${run.runId}`];
}

function closingLine({ run }: RunDetails): string {
  if (run.failure)
    return `${pc.red(run.status)} in ${run.phase ?? "the queue"}: ${run.failure.code}: ${run.failure.message}`;
  const outcome = run.outcome;
  if (run.status === "paused") {
    const { epochs } = run.job.hyperparameters;
    return `${pc.yellow("paused")} after epoch ${run.pauseAt} of ${epochs}; continue it with: ringmaster runs resume ${run.runId}`;
  }
  if (run.reproducedFrom !== undefined)
    return `${pc.green("completed")}; compare it with its original with: ringmaster runs reproduction ${run.runId}`;
  if (outcome?.decision === "promoted")
    return `${pc.green("completed")}: ${outcome.model} version ${outcome.version} is in production`;
  const register = `; register it with: ringmaster models register ${run.runId} --as NAME`;
  const next = outcome?.decision === "not-registered" ? register : "";
  return `${pc.green("completed")}${outcome === undefined ? "" : `: ${outcomeText(outcome)}`}${next}`;
}

export function exitCodeOf(run: Run): number {
  if (run.status === "failed" || run.status === "killed") return exitCodes.failed;
  const { decision } = run.outcome ?? {};
  return decision === "refused-by-gate" || decision === "rejected" ? exitCodes.notPromoted : exitCodes.ok;
}

/** Prints a line for each started phase, finished step and tenth of the training. */
function changeLog(): (details: RunDetails) => void {
  let shown: string | undefined;
  const printed = new Set<string>();
  let tenth = -1;
  const say = (line: string): void => {
    process.stdout.write(`${line}\n`);
  };
  return (details) => {
    const { run, steps, progress } = details;
    for (const record of steps) {
      if (printed.has(record.step)) continue;
      printed.add(record.step);
      const milliseconds = Date.parse(record.finishedAt) - Date.parse(record.startedAt);
      say(
        `  ${record.step}: ${record.reusedFrom ? `reused from ${record.reusedFrom}` : `done in ${formatDuration(milliseconds)}`}`,
      );
    }
    for (const line of [...stoppingLines(details), ...warningLines(details)]) {
      if (printed.has(line)) continue;
      printed.add(line);
      say(`  ${line}`);
    }
    const state = `${run.phase}: ${run.status === "queued" ? "queued" : "started"}`;
    if (state !== shown && isOpen(run.status)) {
      shown = state;
      if (run.phase && !printed.has(run.phase)) say(`  ${state}`);
    }
    if (progress && run.phase === "LaunchTraining") {
      const now = Math.floor((10 * progress.step) / Math.max(1, progress.totalSteps));
      if (now > tenth) {
        tenth = now;
        say(
          `  step ${progress.step}/${progress.totalSteps}, loss ${progress.loss?.toFixed(4) ?? "–"}, ${formatRate(progress.samplesPerSecond)}, ${formatCount(progress.worldSize, "worker")}`,
        );
      }
    }
  };
}

/** Prints a few metrics of the test split, the job's own thresholds first; nothing for a run without evaluation. */
function printTestMetrics(details: RunDetails): void {
  const evaluation = findOutput(details, evaluationKind);
  if (!evaluation) return;
  const { metrics, task } = evaluation;
  const names = summaryMetrics(task, metrics, details.run.job.evaluation.thresholds);
  if (names.length === 0) return;
  printTable(
    ["METRIC", "VALUE"],
    names.map((name) => [`${testPrefix}${name}`, formatNumber(metrics[name] ?? Number.NaN)]),
  );
}
