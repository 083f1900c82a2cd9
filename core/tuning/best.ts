import { lossesOf, type Objective, type ObservedTrial } from "./history";

/**
 * Returns the best trial; of several objectives, the Pareto front by number. Feasible trials come before infeasible
 * ones, which are compared by how far they exceed their constraints. Trials that have not completed count only while
 * none has. The smaller number wins between equal trials.
 */
export function bestTrials<T extends ObservedTrial>(
  trials: readonly T[],
  objectives: readonly Objective[],
): readonly T[] {
  const candidates = trials.flatMap((trial) => {
    const losses = lossesOf(trial, objectives);
    return losses === undefined ? [] : { trial, losses, excess: excessOf(trial) };
  });
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
export function dominates(one: readonly number[], other: readonly number[]): boolean {
  return one.every((loss, at) => loss <= other[at]!) && one.some((loss, at) => loss < other[at]!);
}

/** Returns by how much a trial exceeds its constraints in total; 0 if it is feasible. */
export function excessOf({ constraints = [] }: ObservedTrial): number {
  return constraints.reduce((sum, value) => sum + (Number.isNaN(value) ? Infinity : Math.max(0, value)), 0);
}
