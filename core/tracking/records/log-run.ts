import { digestOf, sha256 } from "../../digest";
import { type Clock, isoTime } from "../../ports";
import { idempotencyConflict } from "../../runs/errors";
import { isOpen } from "../../runs/run-states";
import type { MetricValue } from "../../shapes";
import { defaultExperimentId, type Experiments } from "../experiments";
import type { MetricSeries, MetricStore } from "../metric-store";
import { checkReferences, type ReferencePorts } from "../references";
import type { RunRecords } from "../run-records";
import type { Experiment, RunRecord } from "../shapes";
import { experimentDeleted, experimentNotFound } from "./errors";

export interface LogRunDependencies extends ReferencePorts {
  readonly experiments: Pick<Experiments, "findRecent" | "ensure">;
  readonly records: Pick<RunRecords, "create" | "identify">;
  readonly metrics: Pick<MetricStore, "append">;
  readonly clock: Clock;
  /** Returns a new random id, at least 16 lower-case hex digits. */
  readonly randomId: () => string;
}

/** A run that was executed elsewhere, as its client describes it. */
export interface LogRunRequest
  extends Pick<RunRecord, "team" | "status" | "params" | "tags" | "notes" | "datasets" | "code">,
    Partial<Pick<RunRecord, "submitters" | "name" | "startedAt" | "endedAt" | "parentRunId" | "seed">> {
  readonly actor: string;
  readonly idempotencyKey?: string;
  /** By id, or by name, which creates the experiment if necessary. `Default` if neither is given. */
  readonly experimentId?: string;
  readonly experiment?: string;
  /** First values, at step 0 and the run's start. */
  readonly metrics: Readonly<Record<string, MetricValue>>;
  readonly lockfileSha256?: string;
}

/** Writer id for values that the platform itself writes. */
const firstValues = { writer: "ringmaster/first-values", sequence: 0 };

/**
 * Creates a logged run: its record, then its first metrics. A repetition under the same idempotency key finds the same
 * run, and adds the metrics if the first request died before them.
 * @throws EXPERIMENT_NOT_FOUND, EXPERIMENT_DELETED, RUN_NOT_FOUND for its parent, DATASET_VERSION_NOT_FOUND for an
 * input, IDEMPOTENCY_CONFLICT, RUN_RECORD_TOO_LARGE
 */
export async function logRun(dependencies: LogRunDependencies, request: LogRunRequest): Promise<RunRecord> {
  const { records, clock } = dependencies;
  const { team, actor, idempotencyKey, parentRunId, metrics, experiment: _, lockfileSha256, ...draft } = request;
  const now = clock.now();
  await checkReferences(dependencies, { runs: [parentRunId], datasets: request.datasets });
  const experiment = await experimentFor(dependencies, request);
  const runId = idOf(dependencies, request);
  const startedAt = draft.startedAt ?? now;
  const endedAt = draft.endedAt ?? (isOpen(draft.status) ? undefined : Math.max(now, startedAt));
  const requestDigest = idempotencyKey === undefined ? undefined : digestOf({ ...request, submitters: undefined });
  const firstPoints = { series: seriesOf(metrics, startedAt), receipt: firstValues };
  const createdRun = await records.create(
    {
      ...draft,
      experimentId: experiment.experimentId,
      runId,
      team,
      source: "logged",
      name: draft.name ?? runId,
      lifecycle: "active",
      createdBy: actor,
      startedAt,
      endedAt,
      parentRunId,
      modelInputs: [],
      modelOutputs: [],
      environment: lockfileSha256 === undefined ? {} : { lockfileSha256 },
      artifactUri: `${experiment.artifactLocation}/${runId}/artifacts`,
      revision: 1,
    },
    { requestDigest, ...(firstPoints.series.length > 0 ? { firstPoints } : {}) },
  );
  if (idempotencyKey !== undefined && createdRun.requestDigest !== requestDigest) {
    throw idempotencyConflict(idempotencyKey);
  }
  const { record, pointsStored } = createdRun;
  if (!pointsStored && firstPoints.series.length > 0) {
    // Uses the start that the record has, so that a repeated request gives the same points.
    await dependencies.metrics.append(runId, seriesOf(metrics, record.startedAt), firstValues);
  }
  return record;
}

function seriesOf(metrics: LogRunRequest["metrics"], time: number): readonly MetricSeries[] {
  return Object.entries(metrics).map(([metric, value]) => ({
    metric,
    steps: [0],
    values: [Number(value)],
    times: [time],
  }));
}

async function experimentFor(
  { experiments, clock }: LogRunDependencies,
  { experimentId, experiment: name, actor }: LogRunRequest,
): Promise<Experiment> {
  if (name !== undefined && experimentId === undefined) {
    return active(await experiments.ensure(name, actor, isoTime(clock)));
  }
  const id = experimentId ?? defaultExperimentId;
  const experiment = await experiments.findRecent(id);
  if (!experiment) throw experimentNotFound({ experimentId: id });
  return active(experiment);
}

function active(experiment: Experiment): Experiment {
  if (experiment.lifecycle === "deleted") throw experimentDeleted(experiment.experimentId, experiment.name);
  return experiment;
}

function idOf({ randomId }: LogRunDependencies, { team, idempotencyKey }: LogRunRequest): string {
  const suffix = idempotencyKey === undefined ? randomId() : sha256(`${team}\0logged run\0${idempotencyKey}`);
  return `run-${suffix.slice(0, 16)}`;
}
