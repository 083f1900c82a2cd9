import { rounds } from "../../support/rounds";
import { lateBadTrials, problems } from "./stopping-problems";

/**
 * Mean number of bad trials among the last 30 of 60, which Optuna 5.0.0's TPE suggests with its pruner in 20 seeds.
 * `npm run bench -- tuning schedulers` measures it.
 */
const optuna = {
  asha: [5.0, 6.0, 2.3, 6.0, 0.7, 4.8, 8.3, 6.3, 5.6, 6.5],
  hyperband: [4.5, 4.1, 1.3, 4.5, 0.6, 4.3, 7.4, 6.2, 4.3, 5.9],
};

/** Returns the bad trials of each of some problems. */
function badTrials(sampler: string, scheduler: string, seeds: number, isOne: (at: number) => boolean) {
  const some = Object.values(problems).filter((_, at) => isOne(at));
  return some.map((problem) => {
    const counts = Array.from({ length: seeds }, (_, seed) =>
      lateBadTrials(problem, { sampler, scheduler, seed, trials: 60, epochs: 27, parallel: 1 }),
    );
    return counts.reduce((sum, count) => sum + count, 0) / seeds;
  });
}

/** Amount by which the mean of one or two seeds may exceed that of twenty. */
const margin = 3;

it.each([
  ["tpe", "asha", 5],
  ["tpe", "hyperband", 5],
  ["auto", "asha", 9],
] as const)("%s suggests few trials like those that %s stopped", (sampler, scheduler, usually) => {
  const every = rounds(usually, 1);
  const isOne = (at: number) => at % every === 0;
  const found = badTrials(sampler, scheduler, rounds(1, 3), isOne);
  const limits = optuna[scheduler].filter((_, at) => isOne(at));
  for (const [at, count] of found.entries()) expect(count).toBeLessThanOrEqual(limits[at]! + margin);
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
  expect(sum(found)).toBeLessThan(sum(limits) / 2);
});
