import { inRounds, type Pause } from "../backoff";
import { digestOf, sha256 } from "../digest";
import { busy, conflict, hasCode, InvalidInputError } from "../errors";
import { isoTime } from "../ports";
import { idempotencyConflict } from "../runs/errors";
import { type CancelDependencies, cancelRun } from "../training/close-run";
import type { SubmitDependencies } from "../training/submit";
import { advance } from "./advance";
import { readPlan } from "./context";
import { pipelineLimits } from "./definition";
import { type DeploymentRules, parametersOf, planOf, stepsOf } from "./plan";
import {
  type PipelineDependencies,
  pipelineNotFound,
  pipelineRunEnded,
  pipelineRunNotFound,
  pipelineRunOpen,
  type StepDependencies,
  type StepExecutions,
} from "./ports";
import type { PipelineRun, PipelineVersion } from "./records";

/** The ports from which those of a pipeline are made. */
export type PipelinePorts = Omit<StepDependencies, "cancelTraining" | "cancelPipeline" | "submit" | "executions"> &
  CancelDependencies &
  SubmitDependencies & { readonly executions: StepExecutions };

/** Adds the ways in which a step starts and stops other runs. */
export function pipelinePorts<P extends PipelinePorts>(ports: P): P & StepDependencies {
  /** Repeated cancellations meet a run that has ended. */
  const quietly = async (cancelled: Promise<unknown>): Promise<void> => {
    await cancelled.catch((error: unknown) => {
      if (!hasCode(error, "RUN_ENDED", "RUN_NOT_FOUND", "PIPELINE_RUN_ENDED", "PIPELINE_RUN_NOT_FOUND")) throw error;
    });
  };
  const dependencies: P & StepDependencies = {
    ...ports,
    submit: ports,
    cancelTraining: (runId, actor) => quietly(cancelRun(ports, runId, actor)),
    cancelPipeline: (id, actor) => quietly(cancelPipelineRun(dependencies, id, actor)),
  };
  return dependencies;
}

interface Author {
  readonly actor: string;
  readonly submitters?: readonly string[] | undefined;
}

/**
 * Stores a definition as the next version of its pipeline; an equal newest version is returned instead.
 * @throws InvalidInputError with every problem of the definition
 */
export async function pushPipeline(
  {
    pipelines,
    objects,
    clock,
    pause,
  }: Pick<PipelineDependencies, "pipelines" | "objects" | "clock"> & { readonly pause: Pause },
  definition: unknown,
  { actor, submitters }: Author,
  rules: DeploymentRules,
): Promise<{ readonly created: boolean; readonly pipeline: PipelineVersion }> {
  const plan = planOf(definition, rules);
  const { name } = plan;
  const { sha256: planSha256 } = await objects.putContent(JSON.stringify(plan), "application/json");
  const steps = stepsOf(plan).size;
  const taken = () =>
    busy("PIPELINE_BUSY", `too many requests push ${name} at the same time; send the request again`, {
      pipeline: name,
    });
  return inRounds({ rounds: 12, pause, busy: taken }, async () => {
    const newest = await pipelines.findVersion(name);
    if (newest?.planSha256 === planSha256) return { created: false, pipeline: newest };
    const pipeline = {
      name,
      version: (newest?.version ?? 0) + 1,
      planSha256,
      steps,
      createdBy: actor,
      authors: submitters,
      createdAt: isoTime(clock),
    };
    return (await pipelines.putVersion(pipeline)) ? { created: true, pipeline } : undefined;
  });
}

export interface StartRequest
  extends Author,
    Pick<Partial<PipelineRun>, "noCache" | "resumedFrom" | "parent" | "cause" | "depth"> {
  readonly pipeline: string;
  readonly version?: number;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly idempotencyKey?: string | undefined;
}

/** The run's row has the parameters, and DynamoDB limits it to 400 KiB. */
const maxParameterBytes = 100_000;

export const pipelineRunIdOf = (team: string, idempotencyKey: string): string =>
  `prun-${sha256(`${team}\0${idempotencyKey}`).slice(0, 16)}`;

/**
 * Creates a run and begins its first steps. The same request under the same key finds the same run. If the process dies
 * after the run's row, the sweep begins the steps.
 * @throws PIPELINE_NOT_FOUND, IDEMPOTENCY_CONFLICT, InvalidInputError for parameters
 */
export async function startPipelineRun(
  dependencies: PipelineDependencies,
  request: StartRequest,
): Promise<PipelineRun> {
  const { pipelines, objects, team, clock, randomId } = dependencies;
  const { pipeline, version, parameters, idempotencyKey, noCache, resumedFrom, depth = 0 } = request;
  if (depth > pipelineLimits.depth)
    throw conflict(
      "PIPELINE_TOO_DEEP",
      `pipelines must be nested at most ${pipelineLimits.depth} deep; ${pipeline} would be ${depth} deep`,
      { pipeline, depth },
    );
  const requestDigest = digestOf({ pipeline, version, parameters, noCache, resumedFrom });
  const pipelineRunId =
    idempotencyKey === undefined ? `prun-${randomId().slice(0, 16)}` : pipelineRunIdOf(team, idempotencyKey);
  const earlier = idempotencyKey === undefined ? undefined : await pipelines.findRun(pipelineRunId);
  if (earlier && earlier.requestDigest !== requestDigest) throw idempotencyConflict(idempotencyKey!);
  if (!earlier) {
    const stored = await pipelines.findVersion(pipeline, version);
    if (!stored) throw pipelineNotFound(pipeline, version);
    const plan = await readPlan(objects, stored);
    const unknown = noCache?.filter((step) => !stepsOf(plan).has(step)) ?? [];
    if (unknown.length > 0)
      throw new InvalidInputError(
        "the request",
        unknown.map((value) => ({ path: "noCache", value, rule: `must be a step of ${pipeline}` })),
      );
    const bytes = Buffer.byteLength(JSON.stringify(parameters));
    if (bytes > maxParameterBytes) {
      const rule = `must have at most ${maxParameterBytes} bytes as JSON; they have ${bytes}. Pass the name of a dataset`;
      throw new InvalidInputError("the request", [{ path: "config", rule }]);
    }
    const { actor, submitters, parent, cause } = request;
    const authors = stored.authors && submitters && [...new Set([...stored.authors, ...submitters])];
    await pipelines.createRun({
      ...{
        pipelineRunId,
        team,
        pipeline,
        version: stored.version,
        planSha256: stored.planSha256,
        parameters: parametersOf(plan, parameters),
      },
      ...{
        status: "running",
        noCache,
        resumedFrom,
        parent,
        depth,
        cause,
        requestDigest,
        createdBy: actor,
        submitters: authors,
        createdAt: isoTime(clock),
      },
    });
  }
  await advance(dependencies, pipelineRunId);
  return (await pipelines.findRun(pipelineRunId))!;
}

/** Runs a failed or cancelled run's pipeline again: steps and items that succeeded are taken over. @throws PIPELINE_RUN_RUNNING */
export async function resumePipelineRun(
  dependencies: PipelineDependencies,
  id: string,
  options: Author & { readonly newest?: boolean; readonly idempotencyKey?: string | undefined },
): Promise<PipelineRun> {
  const run = await dependencies.pipelines.findRun(id);
  if (!run) throw pipelineRunNotFound(id);
  if (run.status === "running") throw pipelineRunOpen(id);
  const { newest, ...author } = options;
  const { pipeline, version, parameters } = run;
  return startPipelineRun(dependencies, {
    ...author,
    pipeline,
    parameters,
    resumedFrom: id,
    ...(newest ? {} : { version }),
  });
}

/** Cancels a run: no further step begins, running ones are cancelled, and `finally` runs. Idempotent. @throws PIPELINE_RUN_ENDED */
export async function cancelPipelineRun(
  dependencies: PipelineDependencies,
  id: string,
  actor: string,
): Promise<PipelineRun> {
  const { pipelines } = dependencies;
  const run = await pipelines.findRun(id);
  if (!run) throw pipelineRunNotFound(id);
  if (run.status !== "running" && run.status !== "cancelled") throw pipelineRunEnded(id, run.status);
  await stopRun(dependencies, id, "cancelled", { code: "CANCELLED", message: `cancelled by ${actor}` });
  return (await pipelines.findRun(id))!;
}

/** Lets no further step begin, and cancels the running ones. */
export async function stopRun(
  dependencies: PipelineDependencies,
  id: string,
  status: "failed" | "cancelled",
  failure: { readonly code: string; readonly message: string },
): Promise<void> {
  await dependencies.pipelines.updateRun(id, { stopping: { status, failure } });
  await advance(dependencies, id);
}
