import type { SequentialPlan, SequentialVerdict } from "./shapes";

/** Sums over the units of an arm that have reported. */
export interface ArmSums {
  readonly units: number;
  readonly sum: number;
  readonly sumOfSquares: number;
}

/** Decides on a canary by the outcomes of its units and the champion's so far. May be called after every outcome. */
export function judgeCanary(plan: SequentialPlan, canary: ArmSums, champion: ArmSums): SequentialVerdict {
  const [ours, theirs] = [meanOf(canary), meanOf(champion)];
  const seen = { canary: ours, champion: theirs, units: { canary: canary.units, champion: champion.units } };
  const waiting = tooEarly(plan, canary, champion);
  if (waiting !== undefined) return { ...seen, ...ended(plan, canary, { decision: "keep-on", evidence: waiting }) };
  const estimate = gainOf(plan, canary, champion);
  const variance = Math.max(separateVariance(plan, canary, champion), commonVariance(plan, canary, champion));
  const halfWidth = confidenceHalfWidth(variance, plan.effect, plan.alpha);
  const gain = { estimate, lower: estimate - halfWidth, upper: estimate + halfWidth };
  const interval = `gain in ${plan.metric} ${text(estimate)}, ${text(100 * (1 - plan.alpha))} % confidence sequence [${text(gain.lower)}, ${text(gain.upper)}]`;
  const limit = text(-plan.margin);
  if (gain.lower > -plan.margin)
    return { ...seen, gain, decision: "promote", evidence: `${interval}: lower bound > ${limit}` };
  if (gain.upper < -plan.margin)
    return { ...seen, gain, decision: "roll-back", evidence: `${interval}: upper bound < ${limit}` };
  const evidence = `${interval}: contains ${limit}, not decided yet`;
  return { ...seen, gain, ...ended(plan, canary, { decision: "keep-on", evidence }) };
}

/**
 * Returns half of the confidence sequence's width.
 * @param variance variance of the difference's estimate
 * @param tau parameter of the mixture
 */
export function confidenceHalfWidth(variance: number, tau: number, alpha: number): number {
  if (variance === 0) return 0;
  const mixture = variance + tau * tau;
  return Math.sqrt(
    ((2 * variance * mixture) / (tau * tau)) * (Math.log(1 / alpha) + 0.5 * Math.log(mixture / variance)),
  );
}

function ended(
  { maxUnits }: SequentialPlan,
  canary: ArmSums,
  verdict: Pick<SequentialVerdict, "decision" | "evidence">,
): Pick<SequentialVerdict, "decision" | "evidence"> {
  if (maxUnits === undefined || canary.units < maxUnits) return verdict;
  return {
    decision: "roll-back",
    evidence: `${verdict.evidence}; no significant result after ${canary.units} units of the canary (maxUnits ${maxUnits})`,
  };
}

function meanOf({ units, sum }: ArmSums): number {
  return units === 0 ? 0 : sum / units;
}

function gainOf({ goal }: SequentialPlan, canary: ArmSums, champion: ArmSums): number {
  return (goal === "increase" ? 1 : -1) * (meanOf(canary) - meanOf(champion));
}

/** Number of units with each outcome that each arm must expect, so that means of 0 and 1 are approximately normal. */
const minOfAKind = 10;

function tooEarly({ kind, minUnits }: SequentialPlan, canary: ArmSums, champion: ArmSums): string | undefined {
  const fewest = Math.min(canary.units, champion.units);
  if (fewest < minUnits) return `${fewest} units in the smaller arm, at least ${minUnits} required (minUnits)`;
  if (kind === "mean") return undefined;
  const rate = (canary.sum + champion.sum) / (canary.units + champion.units);
  const expected = fewest * Math.min(rate, 1 - rate);
  if (expected >= minOfAKind) return undefined;
  return `${text(expected)} expected units of the rarer outcome in the smaller arm, at least ${minOfAKind} required`;
}

/** Returns the variance of the difference, from each arm's own estimate. */
function separateVariance({ kind }: SequentialPlan, ...arms: readonly ArmSums[]): number {
  return arms.reduce((sum, { units, ...arm }) => {
    const mean = arm.sum / units;
    const variance =
      kind === "binary" ? mean * (1 - mean) : Math.max(0, arm.sumOfSquares - mean * arm.sum) / (units - 1);
    return sum + variance / units;
  }, 0);
}

/** Returns the variance of the difference if the arms differ by exactly the margin. */
function commonVariance({ kind, goal, margin }: SequentialPlan, canary: ArmSums, champion: ArmSums): number {
  const apart = goal === "increase" ? -margin : margin;
  const units = canary.units + champion.units;
  if (kind === "binary") {
    const rate = (canary.sum - apart * canary.units + champion.sum) / units;
    return bernoulli(rate + apart) / canary.units + bernoulli(rate) / champion.units;
  }
  const squares = [canary, champion].reduce((sum, arm) => sum + arm.sumOfSquares - (arm.sum * arm.sum) / arm.units, 0);
  return (Math.max(0, squares) / (units - 2)) * (1 / canary.units + 1 / champion.units);
}

function bernoulli(rate: number): number {
  const within = Math.min(1, Math.max(0, rate));
  return within * (1 - within);
}

function text(value: number): string {
  return String(Number(value.toPrecision(4)));
}

/** The outcome of one unit: a click, a sale, an error. */
export interface Outcome {
  readonly unit: string;
  readonly version: number;
  readonly value: number;
}

interface Reported {
  /** Units that had not reported in this epoch. */
  readonly counted: number;
  /** Units that had already reported; their first outcome stays. */
  readonly repeated: number;
}

/**
 * The port to outcomes of a team's canaries. A unit counts once in an epoch, however many outcomes or reports it has.
 * The test needs independent units, and a report may be repeated.
 */
export interface OutcomeRepository {
  report(model: string, epoch: number, outcomes: readonly Outcome[], at: number): Promise<Reported>;
  sums(model: string, epoch: number): Promise<ReadonlyMap<number, ArmSums>>;
}

export const noSums: ArmSums = { units: 0, sum: 0, sumOfSquares: 0 };
