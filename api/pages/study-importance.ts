import { lossesOf, type Objective, type ObservedTrial } from "../../core/tuning/history";
import type { Space } from "../../core/tuning/space";
import { paramStrength } from "./comparison/param-strength";

const minTrials = 10;
/** Share of the ended trials that have reached the epoch at which trials are compared. */
const comparedShare = 0.9;

/**
 * Returns the share of the first objective's variance, by ranks, that each parameter explains alone, after the last
 * epoch that nearly all trials reached. Trials in which a parameter is inactive do not count for it. `undefined` with
 * fewer than 10 comparable trials, or if all have the same value.
 */
export function importanceOf(
  trials: readonly ObservedTrial[],
  space: Space,
  objectives: readonly Objective[],
): Readonly<Record<string, number>> | undefined {
  const compared = comparable(trials, objectives.slice(0, 1));
  const losses = compared.map(({ loss }) => loss);
  if (compared.length < minTrials || new Set(losses).size < 2) return undefined;
  const textOf = ({ params }: ObservedTrial, name: string) =>
    Object.hasOwn(params, name) ? JSON.stringify(params[name]) : null;
  return Object.fromEntries(
    Object.keys(space).map((name) => [
      name,
      paramStrength(
        compared.map(({ trial }) => textOf(trial, name)),
        losses,
      ),
    ]),
  );
}

function comparable(trials: readonly ObservedTrial[], objectives: readonly Objective[]) {
  const scored = trials.flatMap((trial) => {
    const loss = lossesOf(trial, objectives)?.[0];
    const last = trial.reports.at(-1)?.epoch ?? 0;
    // The value of a completed trial counts for all later epochs: it may have stopped early by itself.
    return loss === undefined ? [] : { trial, loss, last, reached: trial.state === "completed" ? Infinity : last };
  });
  const ended = scored.filter(({ trial }) => trial.state !== "running").map(({ reached }) => reached);
  const enough = Math.max(minTrials, Math.ceil(comparedShare * ended.length));
  const epoch = ended.sort((a, b) => b - a)[enough - 1] ?? 0;
  return scored.flatMap(({ trial, loss, last, reached }) => {
    if (reached < epoch) return [];
    if (last <= epoch) return { trial, loss };
    const { values: _, ...rest } = trial;
    const reports = trial.reports.filter((report) => report.epoch <= epoch);
    const earlier = lossesOf({ ...rest, reports }, objectives)?.[0];
    return earlier === undefined ? [] : { trial, loss: earlier };
  });
}
