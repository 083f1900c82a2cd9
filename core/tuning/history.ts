import * as z from "zod";
import type { DocumentKind } from "../object-documents";
import type { Shape } from "../shapes";
import { type Point, settingValue } from "./space";

/** A value that is not finite is `null` in JSON. */
const value = z
  .number()
  .nullable()
  .transform((value) => value ?? Number.NaN);

const observedTrial = z.object({
  number: z.int().meta({ description: "Trials are numbered from 0 in the order of their creation." }),
  params: z.record(z.string(), settingValue),
  state: z.enum(["running", "paused", "completed", "stopped", "failed"]),
  reports: z.array(z.object({ epoch: z.number(), value })).meta({
    description: "Values of the first objective by epoch, ascending, in its own direction.",
  }),
  curve: z
    .array(z.object({ at: z.number(), value }))
    .optional()
    .meta({
      description:
        "Values of the first objective at the epochs at which a scheduler compares trials, ascending, in its own direction. `at` is 0 at the first of these epochs, 1 at the last, and even between.",
    }),
  reached: z.number().optional().meta({
    description:
      "Share of the training, as far as trials are compared, after which it was stopped. A trial that reached less is worse, whatever its value. Absent: it was compared.",
  }),
  values: z.array(value).optional().meta({
    description: "Values of all objectives at the end, each in its own direction.",
  }),
  constraints: z.array(value).optional().meta({ description: "At most 0 where a constraint is kept." }),
});
export interface ObservedTrial extends Omit<Shape<typeof observedTrial>, "params"> {
  readonly params: Point;
}

/** The trials of earlier studies and runs from which a study's sampler starts. */
export const warmStartTrials: DocumentKind<readonly ObservedTrial[]> = {
  name: "a list of trials",
  schema: z.array(observedTrial),
  maxBytes: 2 ** 26,
};

export const objectiveSchema = z.strictObject({
  /** A metric that the run tracks: `validation/accuracy`. */
  metric: z.string().min(1).max(250),
  direction: z.enum(["minimize", "maximize"]),
});
export type Objective = Readonly<z.output<typeof objectiveSchema>>;

/** A trial's losses, less is better: its values, or its last report before the end. `undefined` if it has none. */
export function lossesOf(
  { state, values, reports }: ObservedTrial,
  objectives: readonly Objective[],
): readonly number[] | undefined {
  if (state === "failed") return undefined;
  const last = reports.at(-1)?.value;
  const finals = values ?? (objectives.length === 1 && last !== undefined ? [last] : undefined);
  if (finals === undefined || finals.some((value) => !Number.isFinite(value))) return undefined;
  return finals.map((value, i) => (objectives[i]?.direction === "maximize" ? -value : value));
}

/**
 * Returns the best trial; of several objectives, the Pareto front by number. Feasible trials come before infeasible
 * ones, which are compared by how far they exceed their constraints. Trials that have not completed count only while
 * none has. The smaller number wins between equal trials.
 */
export function bestTrials<T extends ObservedTrial>(
  trials: readonly T[],
  objectives: readonly Objective[],
): readonly T[] {
  const candidates = scored(trials, objectives).filter(({ losses }) => losses.length === objectives.length);
  const completed = candidates.filter(({ trial }) => trial.state === "completed");
  const compared = completed.length > 0 ? completed : candidates;
  const least = Math.min(...compared.map(({ excess }) => excess));
  const allowed = compared.filter(({ excess }) => excess === least).sort((a, b) => a.trial.number - b.trial.number);
  if (objectives.length === 1) {
    const smallest = Math.min(...allowed.map(({ losses }) => losses[0]!));
    return allowed.flatMap(({ trial, losses }) => (losses[0] === smallest ? trial : [])).slice(0, 1);
  }
  const isDominated = (losses: readonly number[]) => allowed.some((other) => dominates(other.losses, losses));
  return allowed.flatMap(({ trial, losses }) => (isDominated(losses) ? [] : trial));
}

/** Tests whether losses are at most as large for each objective, and smaller for one. */
function dominates(one: readonly number[], other: readonly number[]): boolean {
  return one.every((loss, at) => loss <= other[at]!) && one.some((loss, at) => loss < other[at]!);
}

/** Returns by how much a trial exceeds its constraints in total; 0 if it is feasible. */
function excessOf({ constraints = [] }: ObservedTrial): number {
  return constraints.reduce((sum, value) => sum + (Number.isNaN(value) ? Infinity : Math.max(0, value)), 0);
}

interface Scored<T = ObservedTrial> {
  readonly trial: T;
  /** The first objective alone, if the trial was stopped before it had the others. */
  readonly losses: readonly number[];
  readonly excess: number;
}

/** Returns the trials that have a value. Failed trials and those with a NaN have none. */
export function scored<T extends ObservedTrial>(
  history: readonly T[],
  objectives: readonly Objective[],
): readonly Scored<T>[] {
  return history.flatMap((trial) => {
    const wasStopped = trial.reached !== undefined && trial.values === undefined;
    const losses = lossesOf(trial, wasStopped ? objectives.slice(0, 1) : objectives);
    return losses === undefined ? [] : { trial, losses, excess: excessOf(trial) };
  });
}

/**
 * Orders trials, best first: feasible ones by their loss, then stopped ones by how much they reached and their loss there,
 * then infeasible ones by how far they exceed their constraints. Several objectives are compared by fronts of
 * non-domination, and within a front by crowding distance (Deb et al., 2002). Fronts are found until `needed` trials are
 * in order; the others follow in any order.
 */
export function bestFirst(trials: readonly Scored[], needed = trials.length): readonly Scored[] {
  const byLoss = (a: Scored, b: Scored) => compare(a.losses[0]!, b.losses[0]!);
  const infeasible = trials.filter(({ excess }) => excess !== 0).sort((a, b) => compare(a.excess, b.excess));
  const feasible = trials.filter(({ excess, trial }) => excess === 0 && trial.reached === undefined);
  const stopped = trials
    .filter(({ excess, trial }) => excess === 0 && trial.reached !== undefined)
    .sort((a, b) => compare(b.trial.reached!, a.trial.reached!) || byLoss(a, b));
  if ((feasible[0]?.losses.length ?? 1) === 1) return [...feasible.sort(byLoss), ...stopped, ...infeasible];
  const ordered: Scored[] = [];
  let rest: readonly Scored[] = feasible;
  while (rest.length > 0 && ordered.length < needed) {
    const front = frontOf(rest);
    ordered.push(...byCrowding(front));
    const members = new Set(front);
    rest = rest.filter((one) => !members.has(one));
  }
  return [...ordered, ...rest, ...stopped, ...infeasible];
}

/** Returns the trials that no other dominates. */
function frontOf(trials: readonly Scored[]): readonly Scored[] {
  const front: Scored[] = [];
  // In lexicographic order, a later trial never dominates an earlier one.
  for (const one of [...trials].sort((a, b) => lexicographic(a.losses, b.losses))) {
    if (!front.some((other) => dominates(other.losses, one.losses))) front.push(one);
  }
  return front;
}

function byCrowding(front: readonly Scored[]): readonly Scored[] {
  const distance = new Map(front.map((one) => [one, 0]));
  for (let at = 0; at < (front[0]?.losses.length ?? 0); at += 1) {
    const sorted = [...front].sort((a, b) => compare(a.losses[at]!, b.losses[at]!));
    const range = sorted.at(-1)!.losses[at]! - sorted[0]!.losses[at]!;
    for (const [i, one] of sorted.entries()) {
      const before = sorted[i - 1]?.losses[at];
      const after = sorted[i + 1]?.losses[at];
      const gap = before === undefined || after === undefined ? Infinity : range > 0 ? (after - before) / range : 0;
      distance.set(one, distance.get(one)! + gap);
    }
  }
  return [...front].sort((a, b) => compare(distance.get(b)!, distance.get(a)!));
}

function lexicographic(one: readonly number[], other: readonly number[]): number {
  for (const [at, loss] of one.entries()) if (loss !== other[at]) return compare(loss, other[at]!);
  return 0;
}

/** Compares also infinite numbers, whose difference is NaN. */
function compare(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
