import { mulberry32 } from "../../core/datasets/split";
import { type ArmSums, judgeCanary } from "../../core/registry/serving/sequential-test";
import type { SequentialPlan } from "../../core/registry/serving/shapes";

export interface Scenario {
  readonly name: string;
  readonly plan: SequentialPlan;
  readonly weight: number;
  readonly canary: (uniform: () => number) => number;
  readonly champion: (uniform: () => number) => number;
  readonly horizon: number;
}

export interface Rates {
  readonly promoted: number;
  readonly rolledBack: number;
  readonly undecided: number;
  readonly medianUnits: number;
}

/** Decides after each look; `undefined`: continue. */
type Judge = (canary: ArmSums, champion: ArmSums) => "promote" | "roll-back" | undefined;

const lookEvery = 20;

export function mixtureTest(plan: SequentialPlan): Judge {
  return (canary, champion) => {
    const { decision } = judgeCanary(plan, canary, champion);
    return decision === "keep-on" ? undefined : decision;
  };
}

export function simulate(scenario: Scenario, judge: Judge, trials: number, seed: number): Rates {
  const uniform = mulberry32(seed);
  const units: number[] = [];
  let promoted = 0;
  for (let trial = 0; trial < trials; trial += 1) {
    const end = simulateOne(scenario, judge, uniform);
    if (!end) continue;
    units.push(end.units);
    if (end.decision === "promote") promoted += 1;
  }
  units.sort((a, b) => a - b);
  return {
    promoted: promoted / trials,
    rolledBack: (units.length - promoted) / trials,
    undecided: 1 - units.length / trials,
    medianUnits: units[units.length >> 1] ?? Number.NaN,
  };
}

function simulateOne(scenario: Scenario, judge: Judge, uniform: () => number) {
  const canary = { units: 0, sum: 0, sumOfSquares: 0 };
  const champion = { units: 0, sum: 0, sumOfSquares: 0 };
  for (let unit = 1; unit <= scenario.horizon; unit += 1) {
    const isCanary = uniform() < scenario.weight;
    const value = isCanary ? scenario.canary(uniform) : scenario.champion(uniform);
    const arm = isCanary ? canary : champion;
    arm.units += 1;
    arm.sum += value;
    arm.sumOfSquares += value * value;
    if (unit % lookEvery !== 0) continue;
    const decision = judge(canary, champion);
    if (decision) return { decision, units: unit };
  }
  return undefined;
}
