import { setTimeout as sleep } from "node:timers/promises";
import type { Crew } from "./crew";
import type { Random } from "./random";

/** How long the parts of an undisturbed run took, in milliseconds. */
export interface Life {
  /** From the start of the processes to the first finished step. */
  readonly startMs: number;
  readonly trainMs: number;
  /** From the last finished step to the processes' end. */
  readonly endMs: number;
}

/** An instant of a run's life. Training's are told by steps, so that a slow machine does not shift them. */
export interface Moment {
  readonly afterStep: number;
  readonly plusMs: number;
}

/** Uniform over the run's life, start-up and end included. */
export function anyMoment(random: Random, { startMs, trainMs, endMs }: Life, steps: number): Moment {
  const at = random() * (startMs + trainMs + endMs);
  if (at < startMs) return { afterStep: 0, plusMs: at };
  if (at < startMs + trainMs) return momentOfTraining(random, trainMs, steps);
  return { afterStep: steps, plusMs: at - startMs - trainMs };
}

/** Uniform over training; `share`: over so much of it, from its beginning. */
export function momentOfTraining(random: Random, trainMs: number, steps: number, share = 1): Moment {
  return { afterStep: 1 + Math.floor(random() * (steps - 1) * share), plusMs: (random() * trainMs) / steps };
}

export function momentText({ afterStep, plusMs }: Moment): string {
  return afterStep === 0 ? `${plusMs.toFixed(0)} ms after the start` : `step ${afterStep} + ${plusMs.toFixed(1)} ms`;
}

/** Resolves then, or when the run is over. */
export async function reached(crew: Crew, { afterStep, plusMs }: Moment): Promise<void> {
  await crew.until(() => crew.finishedSteps >= afterStep);
  await sleep(plusMs);
}
