import * as z from "zod";
import { meter } from "../../adapters/cloudwatch/emf-meter";
import { metrics } from "../../adapters/dynamodb/metric-store";
import { runIdentities } from "../../adapters/dynamodb/run-identities";
import { runKeys } from "../../adapters/dynamodb/run-keys";
import { runs } from "../../adapters/team-runs";
import { InvalidInputError } from "../../core/errors";
import type { Meter } from "../../core/metering/metrics";
import { runAlreadyEnded } from "../../core/runs/errors";
import { progressSchema } from "../../core/runs/progress";
import { checkRunKey, type RunKeys } from "../../core/runs/run-key";
import type { RunRepository } from "../../core/runs/run-repository";
import { isOpen } from "../../core/runs/run-states";
import { count, metricValue } from "../../core/shapes";
import type { MetricBatch, MetricSeries, MetricStore } from "../../core/tracking/metric-store";
import { checkNotMeasured } from "../../core/tracking/test-metrics";
import { functionHandler } from "../function-handler";

const series = z
  .object({
    metric: z.string().regex(/^[\w./-]{1,200}$/, "must be 1–200 letters, digits, and . _ - /"),
    steps: z.array(count).max(100_000),
    values: z.array(metricValue.transform(Number)),
    times: z.array(z.number()),
  })
  .refine((one) => one.steps.length === one.values.length && one.steps.length === one.times.length, {
    message: "must have as many values and times as steps",
  })
  .refine((one) => one.steps.every((step, i) => i === 0 || step > one.steps[i - 1]!), {
    message: "must have increasing steps",
  });

const name = z.string().min(1).max(200);
const machine = z.object({
  memberId: name,
  instanceType: name,
  availabilityZone: name.optional(),
  instanceId: name.optional(),
});
const recovery = z.object({ generation: count, step: count, seconds: z.number().min(0).optional() });

const metricBatch = z.object({
  runId: z.string().min(1),
  runKey: z.string(),
  series: z.array(series).max(1_000),
  progress: progressSchema.optional(),
  machine: machine.optional(),
  recoveries: z.array(recovery).max(1_000).optional(),
});

export interface IngestDependencies {
  readonly runs: RunRepository;
  readonly metrics: MetricStore;
  readonly meter: Meter;
  readonly team: string;
}

/**
 * Validates a batch of an open run and writes it. The order of the writes does not matter, and each may be repeated. A
 * recovery is metered when it is first recorded with a time.
 * @param forRun returns the repositories of the run's team
 * @throws RUN_NOT_FOUND from `forRun`, InvalidInputError
 * @throws RUN_KEY_REFUSED if the sender is no trainer of the run
 * @throws RUN_FIELD_FIXED for metrics that the run's evaluation measures
 * @throws RUN_ENDED
 */
export async function ingest(
  forRun: (runId: string) => Promise<IngestDependencies>,
  keys: Pick<RunKeys, "find">,
  input: unknown,
): Promise<MetricBatch> {
  const parsed = metricBatch.safeParse(input);
  if (!parsed.success) {
    throw new InvalidInputError(
      "the metric batch is not valid",
      parsed.error.issues.map((issue) => ({ path: issue.path.join("."), rule: issue.message })),
    );
  }
  const { runKey, ...batch }: MetricBatch & { readonly runKey: string } = parsed.data;
  const dependencies = await forRun(batch.runId);
  const { runId } = batch;
  await checkRunKey(keys, runId, runKey);
  checkNotMeasured(
    { runId, source: "training" },
    batch.series.map(({ metric }) => metric),
  );
  const run = await dependencies.runs.find(runId);
  if (!run || !isOpen(run.status)) throw runAlreadyEnded(runId, run?.status ?? "gone");
  await Promise.all([
    dependencies.metrics.append(runId, batch.series),
    batch.progress && dependencies.runs.recordProgress(runId, batch.progress),
    batch.machine && dependencies.runs.recordMachine(runId, batch.machine),
    ...(batch.recoveries ?? []).map(async (one) => {
      if (!(await dependencies.runs.recordRecovery(runId, one))) return;
      if (one.seconds === undefined) return;
      dependencies.meter.emit({ RecoveryTime: one.seconds }, dependencies.team, { runId: runId });
    }),
  ]);
  return batch;
}

/** Number of values in one line of the log. More values become another line; fewer would cost more to store. */
const maxValuesPerLine = 100;
const lineEveryMs = 10_000;

/** Collects values over many batches, because two lines a second for each run would cost too much. */
export class IngestLag {
  private values: number[] = [];
  private firstAt = 0;

  constructor(private readonly meter: Meter) {}

  /** Adds a stored batch. Values that are collected when the process ends are lost. */
  stored(series: readonly MetricSeries[], now: number): void {
    const newest = Math.max(...series.flatMap(({ times }) => times.at(-1) ?? []));
    if (!Number.isFinite(newest)) return;
    if (this.values.length === 0) this.firstAt = now;
    this.values.push(Math.max(0, now - newest) / 1000);
    if (this.values.length < maxValuesPerLine && now - this.firstAt < lineEveryMs) return;
    this.meter.emit({ MetricIngestLag: this.values });
    this.values = [];
  }
}

let lag: IngestLag | undefined;

export const handler = functionHandler(
  {
    shared: { identities: runIdentities("read"), runKeys: runKeys("read"), meter: meter() },
    team: { runs: runs("report"), metrics: metrics("write") },
  },
  async ({ identities, runKeys, meter, clock, forTeam }, event: unknown) => {
    lag ??= new IngestLag(meter);
    const { series } = await ingest(async (runId) => forTeam(await identities.findTeam(runId)), runKeys, event);
    lag.stored(series, clock.now());
    return { accepted: true } as const;
  },
);
