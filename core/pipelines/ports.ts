import type { Page } from "../datasets/repository";
import { conflict, InvalidInputError, notFound } from "../errors";
import type { Logger } from "../logging";
import type { Clock, ObjectStore } from "../ports";
import type { TaskTokens } from "../runs/ports";
import type { SubmitDependencies } from "../training/submit";
import type { PipelineRun, PipelineVersion, StepReference, StepState, StepStatus } from "./records";

export interface PageQuery {
  readonly limit?: number;
  readonly nextToken?: string | undefined;
}

/** An output that steps with the same key reuse, or the lease of the step that computes it. */
export interface CacheEntry {
  readonly holder: StepReference;
  /** Until when another step must wait. Absent: the output is there. */
  readonly leasedUntil?: string;
  readonly output?: StepState["output"];
  readonly outputSha256?: string;
}

/** A step that waits for a training run or another pipeline run. */
export interface Wait extends StepReference {
  readonly kind: "run" | "pipeline";
  readonly id: string;
  readonly token: string;
}

/** The port to a team's pipelines; docs/access-patterns.md, "Pipelines". Reads by id are strongly consistent. */
export interface PipelineRepository {
  /** Adds a version. Returns false if that number exists. */
  putVersion(version: PipelineVersion): Promise<boolean>;
  /** The newest version, or the given one. */
  findVersion(name: string, version?: number): Promise<PipelineVersion | undefined>;
  listVersions(page: PageQuery): Promise<Page<PipelineVersion>>;

  /** Creates a run, or returns the existing one of that id. */
  createRun(run: PipelineRun): Promise<{ readonly created: boolean; readonly run: PipelineRun }>;
  findRun(id: string): Promise<PipelineRun | undefined>;
  /** Newest first. */
  listRuns(pipeline: string | undefined, page: PageQuery): Promise<Page<PipelineRun>>;
  /** Changes a run that has not ended. Returns false if it has, or if it is stopping and the change would stop it. */
  updateRun(
    id: string,
    change: Pick<PipelineRun, "stopping"> | Pick<PipelineRun, "status" | "failure" | "endedAt">,
  ): Promise<boolean>;

  /** Removes an ended run from the list of open ones. */
  delistRun(id: string): Promise<void>;

  /** The states of steps, items of `forEach` not included. */
  steps(id: string): Promise<readonly StepState[]>;
  /** The statuses alone, which every decision about a run reads. */
  statuses(id: string): Promise<ReadonlyMap<string, StepStatus>>;
  findStep(reference: StepReference): Promise<StepState | undefined>;
  items(id: string, step: string, page: PageQuery): Promise<Page<StepState>>;
  /** Creates a state; returns false if there is one. */
  createStep(id: string, state: StepState): Promise<boolean>;
  /**
   * Replaces the state of a running step, and with an item's end counts it on its step, once. Returns false if the
   * step is not running its attempt.
   */
  updateStep(id: string, state: StepState, attempt: number): Promise<boolean>;
  /** Claims the next item of a `forEach` and returns its index. */
  claimItem(id: string, step: string): Promise<number>;

  findCached(key: string): Promise<CacheEntry | undefined>;
  /** Replaces an entry that is as `before`. Returns false if it is not. */
  putCached(key: string, entry: CacheEntry | undefined, before: CacheEntry | undefined): Promise<boolean>;
  /** The newest key of a step over all runs of its pipeline, for the reasons of misses. */
  lastKey(
    pipeline: string,
    step: string,
  ): Promise<{ readonly pipelineRunId: string; readonly parts: Readonly<Record<string, string>> } | undefined>;
  putLastKey(
    pipeline: string,
    step: string,
    key: { readonly pipelineRunId: string; readonly parts: Readonly<Record<string, string>> },
  ): Promise<void>;

  putWait(wait: Wait): Promise<void>;
  findWait(kind: Wait["kind"], id: string): Promise<Wait | undefined>;
  deleteWait(kind: Wait["kind"], id: string): Promise<void>;
}

/** Lists of all teams, for the sweep. */
export interface PipelineIndex {
  openRuns(): Promise<readonly { readonly team: string; readonly id: string }[]>;
  waits(): Promise<readonly (Wait & { readonly team: string })[]>;
}

/** The executions of steps. Names are derived from the step, so that starting is idempotent. */
export interface StepExecutions {
  startStep(team: string, step: StepReference): Promise<void>;
  stopStep(team: string, step: StepReference, reason: string): Promise<void>;
  stepStatus(
    team: string,
    step: StepReference,
  ): Promise<"running" | "succeeded" | "failed" | "timed-out" | "aborted" | undefined>;
}

/** The event of a pipeline run's end. A repetition has the same id. */
export interface PipelineEnded {
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  readonly team: string;
  readonly pipeline: string;
  readonly pipelineRunId: string;
  readonly status: PipelineRun["status"];
  /** The trigger that started the run, if one did. */
  readonly trigger?: string | undefined;
}

export interface PipelineEvents {
  publishPipelineEnded(event: PipelineEnded): Promise<void>;
}

/** The ports that start, stop and continue a run. */
export interface PipelineDependencies {
  readonly team: string;
  readonly pipelines: PipelineRepository;
  readonly objects: Pick<ObjectStore, "getContent" | "putContent" | "hasContent">;
  readonly executions: StepExecutions;
  readonly runEvents: PipelineEvents;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly randomId: () => string;
  /** Cancels a training run that a step waits for. */
  readonly cancelTraining: (runId: string, actor: string) => Promise<void>;
  /** Cancels a run of another pipeline that a step waits for. */
  readonly cancelPipeline: (pipelineRunId: string, actor: string) => Promise<void>;
}

/** The ports of its steps. */
export interface StepDependencies extends PipelineDependencies {
  readonly submit: SubmitDependencies;
  readonly tokens: TaskTokens;
}

export const invalidStepField = (path: string, value: unknown, rule: string) =>
  new InvalidInputError("the step is not valid", [{ path, value, rule }]);
export const pipelineNotFound = (name: string, version?: number) =>
  notFound(
    "PIPELINE_NOT_FOUND",
    `there is no pipeline ${name}${version === undefined ? "" : ` version ${version}`}; list them with GET /pipelines`,
    { pipeline: name },
  );
export const pipelineRunNotFound = (id: string) =>
  notFound("PIPELINE_RUN_NOT_FOUND", `there is no pipeline run ${JSON.stringify(id)}`, { pipelineRunId: id });
export const stepNotFound = (id: string, step: string) =>
  notFound("PIPELINE_STEP_NOT_FOUND", `pipeline run ${id} has no step ${step}, or has not reached it`, {
    pipelineRunId: id,
    step,
  });
export const pipelineRunEnded = (id: string, status: string) =>
  conflict("PIPELINE_RUN_ENDED", `pipeline run ${id} is ${status}; only a running one can be cancelled`, {
    pipelineRunId: id,
    status,
  });
export const pipelineRunOpen = (id: string) =>
  conflict(
    "PIPELINE_RUN_RUNNING",
    `pipeline run ${id} is still running; cancel it, or wait for its end, before it is resumed`,
    { pipelineRunId: id },
  );
