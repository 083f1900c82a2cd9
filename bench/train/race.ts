import { median } from "../support/median";
import type { TrainGang } from "./gangs";

export interface Contender {
  readonly who: string;
  readonly gang: TrainGang;
  /** Samples of all its workers per step. */
  readonly samplesPerStep: number;
  /** Time of the first step after the model was built. It compiles and allocates. */
  firstStepSeconds: number;
  readonly secondsPerStep: number[];
  readonly cpuPerStep: number[];
  /** The reason why it cannot train. */
  failure?: string;
}

export interface Measures {
  /** Medians over the rounds. */
  readonly samplesPerSecond: number;
  /** CPU milliseconds of all workers per thousand samples. */
  readonly cpuMsPerThousand: number;
  /** Median of the ratios to the peer in the rounds that both have. */
  readonly overPeer: number | undefined;
  readonly cpuOverPeer: number | undefined;
}

export function contenderOf(who: string, gang: TrainGang, samplesPerStep: number): Contender {
  return { who, gang, samplesPerStep, firstStepSeconds: Number.NaN, secondsPerStep: [], cpuPerStep: [] };
}

/**
 * Runs all contenders in alternation, so that other load affects each. Each trains for `warmUpSeconds` before. A round takes each about `seconds`, at least one
 * step. A contender whose steps exceed the time of all rounds takes part in fewer. One that fails takes no further part.
 */
export async function race(
  contenders: readonly Contender[],
  {
    rounds,
    seconds,
    warmUpSeconds = 0,
  }: { readonly rounds: number; readonly seconds: number; readonly warmUpSeconds?: number },
): Promise<void> {
  const plans: { readonly contender: Contender; readonly steps: number; secondsLeft: number }[] = [];
  for (const contender of contenders) {
    const measure = async (steps: number) => (await contender.gang.measure({ steps })).seconds;
    const affordable = (limit: number, step: number) => Math.max(1, Math.min(limit, Math.round(seconds / step)));
    try {
      contender.firstStepSeconds = await measure(1);
      const second = await measure(1);
      await measure(affordable(20, second)); // warms caches
      const trialSteps = affordable(10, second);
      const step = (await measure(trialSteps)) / trialSteps;
      const steps = affordable(Number.POSITIVE_INFINITY, step);
      const warmUpSteps = Math.round(warmUpSeconds / step);
      if (warmUpSteps > 0) await measure(warmUpSteps);
      plans.push({ contender, steps, secondsLeft: 2 * rounds * seconds });
    } catch (error) {
      contender.failure = (error as Error).message;
      contender.gang.close();
    }
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const plan of plans) {
      if (round > 0 && plan.secondsLeft <= 0) continue;
      const measured = await plan.contender.gang.measure({ steps: plan.steps });
      plan.secondsLeft -= measured.seconds;
      plan.contender.secondsPerStep.push(measured.seconds / plan.steps);
      plan.contender.cpuPerStep.push(measured.cpuSeconds / plan.steps);
    }
  }
}

export function measuresOf(contender: Contender, peer: Contender | undefined): Measures {
  const ratio = (of: "secondsPerStep" | "cpuPerStep", inverse: boolean) => {
    if (!peer) return undefined;
    const share = peer.samplesPerStep / contender.samplesPerStep;
    const rounds = Math.min(contender[of].length, peer[of].length);
    const ratios = contender[of].slice(0, rounds).map((value, round) => (value * share) / peer[of][round]!);
    return median(inverse ? ratios.map((each) => 1 / each) : ratios);
  };
  return {
    samplesPerSecond: contender.samplesPerStep / median(contender.secondsPerStep),
    cpuMsPerThousand: (median(contender.cpuPerStep) / contender.samplesPerStep) * 1e6,
    overPeer: ratio("secondsPerStep", true),
    cpuOverPeer: ratio("cpuPerStep", false),
  };
}

/** @throws Error if the contenders do not train one model */
export function checkParameters(contenders: readonly Contender[]): void {
  const first = contenders[0]!;
  for (const { who, gang } of contenders) {
    if (gang.parameters === first.gang.parameters) continue;
    throw new Error(`${who} has ${gang.parameters} parameters, ${first.who} ${first.gang.parameters}: not one model`);
  }
}
