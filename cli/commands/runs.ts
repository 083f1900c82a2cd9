import { randomUUID } from "node:crypto";
import pc from "picocolors";
import type { Answer } from "../../client/operations";
import { importanceTable, sliceTables } from "../../core/evaluation/evaluation-tables";
import { testPrefix } from "../../core/evaluation/metric-goal";
import type { EvaluationReport } from "../../core/evaluation/report";
import { formatDuration, formatRate } from "../../core/quantities";
import { decisionText } from "../../core/runs/decision";
import { stoppingText } from "../../core/runs/early-stopping";
import { fineTuneText, sourceText } from "../../core/runs/fine-tune";
import { outcomeText, timesOf, workedUntil, workMs } from "../../core/runs/run";
import { isOpen } from "../../core/runs/run-states";
import type { LogPage, RunDetails } from "../../core/runs/shapes";
import type { MetricSummary } from "../../core/tracking/metric-store";
import { attemptColumns, attemptRow, describeEnds, describeLosses, describeUsage } from "../attempts";
import { type Command, wholeNumber } from "../command";
import { printEvaluationTable, printMetrics } from "../metric-table";
import { exitCodes, formatNumber, printJson, printTable, shownText } from "../output";
import { printLines, recordLines, showRecord } from "../record-lines";
import { describeRun, reportOf } from "../run-description";
import { exitCodeOf, watchRun } from "../watch";
import { addArtifactCommands, addCheckpointCommands } from "./artifacts";
import { addMetricsCommand } from "./metrics";
import { addRecordCommands } from "./records";
import { addListCommand } from "./run-list";
import { addSearchCommands } from "./search";

type Reproduction = Answer<"getReproduction">["reproduction"];

/** Exit codes of `runs reproduction`: 0 identical (or not known yet), 3 different, 1 without weights. */
function addReproduceCommands(runs: Command): void {
  runs
    .command("reproduce <run>")
    .description("reproduce a run from its record, without registering a model version")
    .option("--wait", "follow the reproduction until it ends, then compare the weights")
    .handle(async ({ client, json, print }, runId: string, options: { wait?: boolean }) => {
      const request = { params: { runId }, idempotencyKey: randomUUID() };
      const { run } = await client.call("reproduceTrainingRun", request);
      if (!options.wait) {
        print(
          run,
          `${run.runId} is ${run.status}; compare it with its original with: ringmaster runs reproduction ${run.runId}`,
        );
        return;
      }
      await watchRun(client, run.runId, { quiet: json, printId: true });
      tell(await client.reproduction(run.runId), json);
    });

  runs
    .command("reproduction <run>")
    .description("compare the weights of a reproduction with its original, and explain a difference")
    .option("--of <run>", "compare with this run (default: the original)")
    .handle(async ({ client, json }, runId: string, options: { of?: string }) => {
      tell(await client.reproduction(runId, options.of), json);
    });
}

const codeOf: Readonly<Record<Reproduction["verdict"], number>> = {
  pending: exitCodes.ok,
  identical: exitCodes.ok,
  different: exitCodes.different,
  failed: exitCodes.failed,
};

function tell(reproduction: Reproduction, json: boolean): void {
  process.exitCode = codeOf[reproduction.verdict];
  if (json) {
    printJson(reproduction);
    return;
  }
  const { verdict, of, runId, originalSha256, reproductionSha256, differences, agreement, explanation } = reproduction;
  const colour = verdict === "identical" ? pc.green : verdict === "pending" ? pc.yellow : pc.red;
  process.stdout.write(`${colour(verdict)}: ${explanation}\n\n`);
  const first = agreement?.first;
  printTable(
    ["", of, runId],
    [
      ["weights", originalSha256?.slice(0, 16) ?? "–", reproductionSha256?.slice(0, 16) ?? "–"],
      ...(first
        ? [[`${first.metric ?? "checkpoint"} at step ${first.step}`, short(first.original), short(first.reproduction)]]
        : []),
      ...differences.map((each) => [`${each.kind}: ${each.field}`, short(each.original), short(each.reproduction)]),
    ],
  );
}

function short(text: string): string {
  return text.length <= 40 ? text : `${text.slice(0, 39)}…`;
}

const logPollMs = 1_000;

export function addRunCommands(program: Command): Command {
  const runs = program
    .command("runs")
    .description("list, inspect and compare runs (training runs and runs logged by clients)");
  addCheckpointCommands(runs);
  addReproduceCommands(runs);
  addRecordCommands(runs);
  addMetricsCommand(runs);
  addSearchCommands(runs);
  addArtifactCommands(runs);

  addListCommand(runs);

  runs
    .command("show <run>")
    .description("show status, steps, workers, attempts, metrics and record of a run")
    .handle(async ({ client, json }, runId: string) => {
      const view = await client.call("getRun", { params: { runId } });
      const { experimentId } = view.run;
      const { experiment } = await client.call("getExperiment", { params: { experimentId } });
      if (view.run.source === "logged") {
        if (json) printJson({ ...view, experiment: experiment.name });
        else showRecord(view, experiment.name);
        return;
      }
      const [details, metrics] = await Promise.all([client.run(runId), client.metrics(runId)]);
      const report = await reportOf(client, details);
      if (json) {
        const { run: record, children } = view;
        printJson({ ...describeRun(details, metrics, report), record, children, experiment: experiment.name });
      } else {
        showRun(details, metrics, report);
        process.stdout.write("\n");
        printLines(recordLines(view, experiment.name));
      }
    });

  runs
    .command("watch <run>")
    .description("follow a run until it ends or waits for an approval")
    .handle(async ({ client, json }, runId: string) => {
      const details = await watchRun(client, runId, { quiet: json });
      if (json) {
        const [metrics, report] = await Promise.all([client.metrics(runId), reportOf(client, details)]);
        printJson({ ...describeRun(details, metrics, report), awaited: details.awaited });
      }
      process.exitCode = exitCodeOf(details.run);
    });

  runs
    .command("logs <run>")
    .description("print the logs of the run's workers")
    .option("--worker <index>", "only the logs of this worker", wholeNumber("--worker"))
    .option("--follow", "continue until the run ends; with --json, one document per line")
    .handle(async ({ client, json }, runId: string, { worker, follow }: { worker?: number; follow?: boolean }) => {
      const lines: LogPage["lines"][number][] = [];
      const seen = new Set<string>();
      for (;;) {
        const open = isOpen((await client.run(runId)).run.status);
        let nextToken: string | undefined;
        do {
          const page = await client.call("getTrainingRunLogs", { params: { runId }, query: { worker, nextToken } });
          for (const line of page.lines) {
            const key = `${line.worker} ${line.time} ${line.message}`;
            if (follow && seen.has(key)) continue;
            seen.add(key);
            if (json && follow) printJson(line);
            else if (json) lines.push(line);
            else process.stdout.write(`${new Date(line.time).toISOString()} worker ${line.worker} ${line.message}\n`);
          }
          nextToken = page.nextToken;
        } while (nextToken !== undefined);
        if (!follow) {
          if (json) printJson({ lines });
          return;
        }
        if (!open) return;
        await new Promise((wait) => setTimeout(wait, logPollMs));
      }
    });

  runs
    .command("cancel <run>")
    .description("cancel a run and stop its workers")
    .handle(async ({ client, print }, runId: string) => {
      const run = await client.cancelRun(runId);
      print(run, `${runId} is ${run.status}`);
    });
  runs
    .command("resume <run>")
    .description("continue a paused run from its last checkpoint, with the same bits")
    .option("--until <epochs>", "finished epochs at which it pauses again", wholeNumber("--until"))
    .option("--workers <n>", "number of workers; the weights do not depend on it", wholeNumber("--workers"))
    .handle(async ({ client, print }, runId: string, { until, workers }: { until?: number; workers?: number }) => {
      const body = { pauseAt: until, workers };
      const { run } = await client.call("resumeTrainingRun", { params: { runId }, body });
      print(run, `${runId} is ${run.status}; follow it with: ringmaster runs watch ${runId}`);
    });
  return runs;
}

function showRun(details: RunDetails, metrics: readonly MetricSummary[], report: EvaluationReport | undefined): void {
  const shown = describeRun(details, metrics, report);
  const { run } = details;
  const line = (name: string, value: unknown): void => {
    if (value !== undefined) process.stdout.write(`${name.padEnd(13)} ${value}\n`);
  };
  line("run", run.runId);
  line("status", `${run.status}${run.phase ? ` (${run.phase})` : ""}`);
  const took = formatDuration(workMs(timesOf(run), workedUntil(run, Date.now())));
  line("started", `${run.createdAt}, took ${took}${["queued", "running"].includes(run.status) ? " so far" : ""}`);
  line("dataset", `${run.dataset.name}@${run.dataset.version}`);
  if (run.cause) line("cause", `${run.cause.id}, by trigger ${run.cause.trigger}`);
  const rate = shown.progress === undefined ? "" : `, ${formatRate(shown.progress.samplesPerSecond)}`;
  line("step", shown.step === undefined ? undefined : `${shown.step}/${shown.totalSteps}${rate}`);
  line("weights", shown.weightsSha256);
  if (shown.earlyStopping) line("early stop", stoppingText(shown.earlyStopping, shown.earlyStopping.epoch));
  const reusedFrom = shown.reused.find(({ step }) => step === "LaunchTraining")?.reusedFrom;
  line("training", reusedFrom && `reused from ${reusedFrom}, with its metrics`);
  line("backend", shown.backend);
  line("worker time", describeUsage(shown.attempts));
  line("worker losses", describeLosses(shown.attempts, details.recoveries));
  if (run.restoredFrom)
    line("restored", `from ${run.restoredFrom.runId}, epoch ${run.restoredFrom.epoch}, step ${run.restoredFrom.step}`);
  line("fine-tuned", run.fineTunedFrom && `from ${sourceText(run.fineTunedFrom)}`);
  line("layers", shown.fineTune && fineTuneText(shown.fineTune));
  for (const { layer, initialised } of shown.fineTune?.layers ?? []) {
    line(`  ${layer}`, initialised === undefined ? "loaded" : `initialised: ${initialised}`);
  }
  line("decision", shown.decision && decisionText(shown.decision));
  line("numerics", shown.otherNumerics && `changed during training: ${shown.otherNumerics.join(", ")}`);
  for (const { message } of details.warnings) line("warning", shownText(message));
  if (run.failure) line("failure", `${run.failure.code}: ${run.failure.message}`);
  if (run.outcome) line("outcome", outcomeText(run.outcome));
  // Runs of earlier versions have no metrics of the test split in their table.
  const listed = new Set(metrics.map(({ metric }) => metric));
  const evaluation = Object.entries(shown.evaluation ?? {}).filter(([name]) => !listed.has(`${testPrefix}${name}`));
  const longest = Math.max(0, ...evaluation.map(([name]) => name.length));
  for (const [name, value] of evaluation) line(`  ${name.padEnd(longest)}`, formatNumber(value));
  if (report) {
    for (const table of sliceTables(report)) printEvaluationTable(table);
    if (report.importance) printEvaluationTable(importanceTable(report.importance));
  }
  if (details.steps.length > 0) {
    process.stdout.write("\n");
    printTable(
      ["STEP", "TOOK", ""],
      details.steps.map((record) => [
        record.step,
        formatDuration(Date.parse(record.finishedAt) - Date.parse(record.startedAt)),
        record.reusedFrom ? `reused from ${record.reusedFrom}` : "",
      ]),
    );
  }
  if (shown.workers.length > 0) {
    process.stdout.write("\n");
    printTable(
      ["RANK", "WORKER", "HOST", "PID", "STATE", "STEP", "ENDED PROCESSES"],
      shown.workers.map((worker) => [
        worker.rank,
        worker.workerIndex,
        worker.host,
        worker.pid,
        worker.state,
        worker.step,
        "attempts" in worker && worker.attempts ? describeEnds(worker.attempts) : "",
      ]),
    );
  }
  for (const { memberId, instanceId, interruptionNoticeAt } of details.machines) {
    if (interruptionNoticeAt === undefined) continue;
    process.stdout.write(`\ninterruption notice at ${interruptionNoticeAt}: ${memberId} on ${instanceId}\n`);
  }
  if (details.attempts.length > 0) {
    process.stdout.write("\n");
    printTable(
      attemptColumns,
      shown.attempts.map((one) => attemptRow(one)),
    );
  }
  if (metrics.length > 0) {
    process.stdout.write("\n");
    printMetrics(metrics, run);
  }
}
