import { type ArmSums, judgeCanary, type SequentialPlan } from "../../core/registry/serving/sequential-test";
import { seededRandom } from "../scale/random";

export interface Scenario {
  readonly name: string;
  readonly plan: SequentialPlan;
  /** Part of the units that the canary gets. */
  readonly weight: number;
  /** What one unit reports. @param uniform in [0, 1), to be called as often as needed */
  readonly canary: (uniform: () => number) => number;
  readonly champion: (uniform: () => number) => number;
  /** Units of both arms together. */
  readonly horizon: number;
}

export interface Rates {
  readonly promoted: number;
  readonly rolledBack: number;
  readonly undecided: number;
  /** Of those that were decided; units of both arms. NaN where none was. */
  readonly medianUnits: number;
}

/** How a test decides after each look; `undefined`: go on. */
export type Judge = (canary: ArmSums, champion: ArmSums, last: boolean) => "promote" | "roll-back" | undefined;

/** A look after each so many units. */
const lookEvery = 20;

/** The product's own test. */
export function mixtureTest(plan: SequentialPlan): Judge {
  return (canary, champion) => {
    const { decision } = judgeCanary(plan, canary, champion);
    return decision === "keep-on" ? undefined : decision;
  };
}

/** What is done where nobody knows better: a z-test at each look, and the first that is significant decides. */
export function peekedTest({ margin, minUnits }: SequentialPlan): Judge {
  return (canary, champion) => {
    if (Math.min(canary.units, champion.units) < minUnits) return undefined;
    return zTest(canary, champion, margin);
  };
}

/** One z-test at the horizon: the most powerful of the three, for who does not look before. */
export function fixedTest({ margin }: SequentialPlan): Judge {
  return (canary, champion, last) => (last ? zTest(canary, champion, margin) : undefined);
}

export function simulate(scenario: Scenario, judge: Judge, trials: number, seed: number): Rates {
  const uniform = seededRandom(seed);
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
    const decision = judge(canary, champion, unit + lookEvery > scenario.horizon);
    if (decision) return { decision, units: unit };
  }
  return undefined;
}

/** Two-sided, 5 %, of the difference of means, an increase being good. */
function zTest(canary: ArmSums, champion: ArmSums, margin: number): "promote" | "roll-back" | undefined {
  const variance = varianceOf(canary) / canary.units + varianceOf(champion) / champion.units;
  const z = (canary.sum / canary.units - champion.sum / champion.units + margin) / Math.sqrt(variance);
  if (Math.abs(z) <= 1.959964) return undefined;
  return z > 0 ? "promote" : "roll-back";
}

function varianceOf({ units, sum, sumOfSquares }: ArmSums): number {
  return (sumOfSquares - (sum * sum) / units) / (units - 1);
}
