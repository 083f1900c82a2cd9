import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../../test/support/random";
import type { Crew } from "./crew";

export interface Life {
  readonly startMs: number;
  readonly trainMs: number;
  readonly endMs: number;
}

/** A time in a run's life. In training it is relative to steps, so a slow machine does not shift it. */
export interface TimePoint {
  readonly afterStep: number;
  readonly plusMs: number;
}

/** Draws uniformly over the run's life, start-up and end included. */
export function anyTimePoint(random: Random, { startMs, trainMs, endMs }: Life, steps: number): TimePoint {
  const at = random() * (startMs + trainMs + endMs);
  if (at < startMs) return { afterStep: 0, plusMs: at };
  if (at < startMs + trainMs) return timePointOfTraining(random, trainMs, steps);
  return { afterStep: steps, plusMs: at - startMs - trainMs };
}

/** Draws uniformly over training, or over the first `share` of it. */
export function timePointOfTraining(random: Random, trainMs: number, steps: number, share = 1): TimePoint {
  return { afterStep: 1 + Math.floor(random() * (steps - 1) * share), plusMs: (random() * trainMs) / steps };
}

export function timePointText({ afterStep, plusMs }: TimePoint): string {
  return afterStep === 0 ? `${plusMs.toFixed(0)} ms after the start` : `step ${afterStep} + ${plusMs.toFixed(1)} ms`;
}

export async function reached(crew: Crew, { afterStep, plusMs }: TimePoint): Promise<void> {
  await crew.until(() => crew.finishedSteps >= afterStep);
  await sleep(plusMs);
}
