import * as z from "zod";
import { mapLimited } from "../each-limited";
import { InvalidInputError } from "../errors";
import { type DocumentKind, getJsonContent } from "../object-documents";
import { objectKeys } from "../object-keys";
import type { ObjectStore } from "../ports";
import { problemsOf } from "../problems";
import type { RunRepository } from "../runs/run-repository";
import type { Shape } from "../shapes";
import type { MetricStore } from "../tracking/metric-store";
import type { Objective, ObservedTrial } from "./history";
import { type StudyRepository, studyNotFound } from "./ports";
import { contains, isActive, type Json, type Point, parameterOrder, type Space, settingValue } from "./space";
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
 * @throws STUDY_NOT_FOUND, InvalidInputError for an unknown run
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

async function importedAsTrials(
  { objects }: WarmStartDependencies,
  definition: StudyDefinition,
  sha256: string,
  index: number,
): Promise<readonly ObservedTrial[]> {
  const trials = await trialsOfImport(objects, definition, { path: `warmStart.${index}.trials`, sha256 });
  return withReached(trials.map((trial) => ({ ...trial, number: 0 })));
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

const maxTrials = 10_000;
const maxBytes = 32 * 1024 * 1024;

/** Trials of a study that was made elsewhere, in the content store. */
const importedTrials = z.strictObject({
  format: z.literal("ringmaster/trials@1"),
  /** Name of the study where it was made. */
  study: z.string().max(1_000),
  /** Directions of the objectives, in their order. */
  directions: z.array(z.enum(["minimize", "maximize"])).min(1),
  trials: z
    .array(
      z.strictObject({
        params: z.record(z.string(), settingValue),
        state: z.enum(["completed", "stopped"]),
        reports: z.array(z.strictObject({ epoch: z.int().min(0), value: z.number() })).max(100_000),
        values: z.array(z.number()).optional(),
        constraints: z.array(z.number()).optional(),
      }),
    )
    .min(1)
    .max(maxTrials),
});
export type ImportedTrials = Shape<typeof importedTrials>;

/** A file that a person uploaded. Its problems are those of the study. */
const imported: DocumentKind<unknown> = { name: "a list of trials", schema: z.unknown(), maxBytes };

/**
 * Returns the trials of an imported study that lie in a space.
 *
 * @param path of the reference in the study's definition, for errors
 * @throws InvalidInputError if there is no such document, its objectives are others, or none of its trials lies in the
 * space
 */
export async function trialsOfImport(
  objects: Pick<ObjectStore, "size" | "getContent">,
  { space, objectives }: { readonly space: Space; readonly objectives: readonly Objective[] },
  reference: { readonly path: string; readonly sha256: string },
): Promise<readonly Omit<ObservedTrial, "number">[]> {
  const refuse = (rule: string) =>
    new InvalidInputError("the study", [{ path: reference.path, value: reference.sha256, rule }]);
  const { directions, trials } = await readImport(objects, reference.sha256, refuse);
  const own = objectives.map(({ direction }) => direction);
  if (own.join() !== directions.join()) {
    throw refuse(`has trials that ${directions.join(" and ")}, but the study's objectives ${own.join(" and ")}`);
  }
  const found = trials.flatMap(({ params, ...trial }) => {
    const point = pointIn(space, params);
    return point === undefined ? [] : [{ ...trial, params: point }];
  });
  if (found.length === 0) throw refuse(`must have a trial in the space: ${misfitsOf(space, trials)}`);
  return found;
}

async function readImport(
  objects: Pick<ObjectStore, "size" | "getContent">,
  sha256: string,
  refuse: (rule: string) => InvalidInputError,
): Promise<ImportedTrials> {
  const key = objectKeys.content(sha256);
  const bytes = await objects.size(key);
  if (bytes === undefined) throw refuse("must be trials that were imported: ringmaster study import FILE");
  if (bytes > maxBytes) throw refuse(`must have at most ${maxBytes} bytes, but has ${bytes}`);
  const parsed = importedTrials.safeParse(await getJsonContent(objects, sha256, imported));
  if (!parsed.success) throw new InvalidInputError("the imported trials", problemsOf(parsed.error).slice(0, 20));
  return parsed.data;
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

/** Describes for each parameter why trials do not lie in the space. */
function misfitsOf(space: Space, trials: ImportedTrials["trials"]): string {
  return Object.entries(space)
    .flatMap(([name, parameter]) => {
      const missing = trials.filter(({ params }) => params[name] === undefined).length;
      const outside = trials.filter(({ params }) => params[name] !== undefined && !contains(parameter, params[name]));
      return [
        ...(missing > 0 && parameter.when === undefined
          ? [`${name} is missing in ${missing} of ${trials.length}`]
          : []),
        ...(outside.length > 0 ? [`${name} is outside in ${outside.length}`] : []),
      ];
    })
    .join(", ");
}
