import { mapLimited } from "../each-limited";
import { InvalidInputError } from "../errors";
import type { RunRepository } from "../runs/run-repository";
import type { MetricStore } from "../tracking/metric-store";
import type { ObservedTrial } from "./history";
import { type StudyRepository, studyNotFound } from "./ports";
import { contains, isActive, type Json, type Point, parameterOrder, type Space } from "./space";
import type { StudyDefinition } from "./study";

export interface WarmStartDependencies {
  readonly studies: Pick<StudyRepository, "load">;
  readonly runs: Pick<RunRepository, "find">;
  readonly metrics: Pick<MetricStore, "summaries">;
}

const readsAtOnce = 8;

/**
 * Returns the ended trials of earlier studies, and runs as trials, that lie in the study's space. Their objectives must
 * be those of the study.
 * @throws STUDY_NOT_FOUND, InvalidInputError for an unknown run
 */
export async function warmTrials(
  dependencies: WarmStartDependencies,
  definition: StudyDefinition,
): Promise<readonly ObservedTrial[]> {
  const trials: ObservedTrial[] = [];
  for (const source of definition.warmStart) {
    trials.push(
      ...("study" in source
        ? await trialsOfStudy(dependencies, definition, source.study)
        : await runsAsTrials(dependencies, definition, source.runs)),
    );
  }
  // Numbers below 0, because those of the study begin with 0.
  return trials.map((trial, i) => ({ ...trial, number: i - trials.length }));
}

async function trialsOfStudy(
  { studies }: WarmStartDependencies,
  { space, objectives }: StudyDefinition,
  name: string,
): Promise<readonly ObservedTrial[]> {
  const state = await studies.load(name);
  if (state === undefined) throw studyNotFound(name);
  const order = objectives.map(({ metric }) =>
    state.study.definition.objectives.findIndex((objective) => objective.metric === metric),
  );
  if (order.includes(-1)) {
    const rule = `must have the objectives ${objectives.map(({ metric }) => metric).join(", ")}`;
    throw new InvalidInputError("the study", [{ path: "warmStart.study", value: name, rule }]);
  }
  const trials = state.trials.flatMap(({ params, state: trialState, reports, values, constraints }) => {
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
  return withReached(trials);
}

/** Makes trials that a study stopped worse than those that it completed. */
function withReached(trials: readonly ObservedTrial[]): readonly ObservedTrial[] {
  const lastEpoch = ({ reports }: ObservedTrial) => reports.at(-1)?.epoch ?? 0;
  const epochs = Math.max(1, ...trials.map(lastEpoch));
  return trials.map((trial) =>
    trial.state === "completed" ? trial : { ...trial, reached: lastEpoch(trial) / epochs },
  );
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

/** Returns the values of the active parameters; `undefined` if one is missing or outside of the space. */
function pointIn(space: Space, params: Point): Point | undefined {
  const point: Record<string, Json> = {};
  for (const name of parameterOrder(space)) {
    const parameter = space[name] as Space[string];
    if (!isActive(parameter, point)) continue;
    const value = params[name];
    if (value === undefined || !contains(parameter, value)) return undefined;
    point[name] = value;
  }
  return point;
}
