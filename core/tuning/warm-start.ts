import { mapLimited } from "../each-limited";
import { InvalidInputError } from "../errors";
import type { ObjectStore } from "../ports";
import type { RunRepository } from "../runs/run-repository";
import type { MetricStore } from "../tracking/metric-store";
import { StudyNotFoundError } from "./errors";
import type { ObservedTrial } from "./history";
import { pointIn, trialsOfImport } from "./imported-trials";
import type { StudyRepository } from "./ports";
import type { Json, Point, Space } from "./space";
import type { StudyDefinition } from "./study";

export interface WarmStartDependencies {
  readonly studies: Pick<StudyRepository, "load">;
  readonly runs: Pick<RunRepository, "find">;
  readonly metrics: Pick<MetricStore, "summaries">;
  readonly objects: Pick<ObjectStore, "size" | "getContent">;
}

const readsAtOnce = 8;

/**
 * Returns the ended trials of earlier studies, and runs as trials, that lie in the study's space. Their objectives must
 * be those of the study.
 *
 * @throws StudyNotFoundError, InvalidInputError for an unknown run
 */
export async function warmTrials(
  dependencies: WarmStartDependencies,
  definition: StudyDefinition,
): Promise<readonly ObservedTrial[]> {
  const found: ObservedTrial[] = [];
  for (const [i, source] of definition.warmStart.entries()) {
    found.push(
      ...("study" in source
        ? await trialsOfStudy(dependencies, definition, source.study)
        : "runs" in source
          ? await runsAsTrials(dependencies, definition, source.runs)
          : await importedAsTrials(dependencies, definition, source.trials, i)),
    );
  }
  // Numbers below 0, because those of the study begin with 0.
  return found.map((trial, i) => ({ ...trial, number: i - found.length }));
}

async function trialsOfStudy(
  { studies }: WarmStartDependencies,
  { space, objectives }: StudyDefinition,
  name: string,
): Promise<readonly ObservedTrial[]> {
  const state = await studies.load(name);
  if (state === undefined) throw new StudyNotFoundError(name);
  const order = objectives.map(({ metric }) =>
    state.study.definition.objectives.findIndex((objective) => objective.metric === metric),
  );
  if (order.includes(-1)) {
    const rule = `must have the objectives ${objectives.map(({ metric }) => metric).join(", ")}`;
    throw new InvalidInputError("the study", [{ path: "warmStart.study", value: name, rule }]);
  }
  return state.trials.flatMap(({ params, state: trialState, reports, values, constraints }) => {
    const point = pointIn(space, params);
    if (point === undefined || trialState === "failed" || trialState === "running") return [];
    return {
      number: 0,
      params: point,
      state: trialState,
      reports: order[0] === 0 ? reports : [],
      ...(values ? { values: order.map((i) => values[i] as number) } : {}),
      ...(constraints ? { constraints } : {}),
    };
  });
}

async function importedAsTrials(
  { objects }: WarmStartDependencies,
  definition: StudyDefinition,
  sha256: string,
  index: number,
): Promise<readonly ObservedTrial[]> {
  const trials = await trialsOfImport(objects, definition, { path: `warmStart.${index}.trials`, sha256 });
  return trials.map((trial) => ({ ...trial, number: 0 }));
}

async function runsAsTrials(
  { runs, metrics }: WarmStartDependencies,
  { space, objectives }: StudyDefinition,
  runIds: readonly string[],
): Promise<readonly ObservedTrial[]> {
  const trials = await mapLimited([...runIds], readsAtOnce, async (runId): Promise<readonly ObservedTrial[]> => {
    const run = await runs.find(runId);
    if (run === undefined) {
      const problem = { path: "warmStart.runs", value: runId, rule: "must be a training run" };
      throw new InvalidInputError("the study", [problem]);
    }
    const params = pointIn(space, settingsOf(run.job, space));
    const summaries = await metrics.summaries(runId);
    const values = objectives.map(({ metric }) => summaries.find((one) => one.metric === metric)?.last ?? Number.NaN);
    if (params === undefined || run.status !== "completed" || values.some((value) => !Number.isFinite(value)))
      return [];
    return [{ number: 0, params, state: "completed", reports: [], values }];
  });
  return trials.flat();
}

/** Reads the parameters' values from a job. */
function settingsOf(job: unknown, space: Space): Point {
  return Object.fromEntries(
    Object.keys(space).flatMap((path) => {
      const value = path
        .split(".")
        .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], job);
      return value === undefined ? [] : [[path, value as Json]];
    }),
  );
}
