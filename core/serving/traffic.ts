import type { SequentialPlan } from "./sequential-test";

/** A version that serves a part of the units beside the champion. */
export interface CanaryArm {
  readonly version: number;
  /** Part of the units, above 0; those of all canaries together are at most 1, the champion has the rest. */
  readonly weight: number;
}

/** Who answers whom; a part of the model's head, so that it changes in the same write as stages do. */
export interface Traffic {
  readonly canaries: readonly CanaryArm[];
  /** Versions that are asked too, and whose answers nobody gets. */
  readonly shadows: readonly number[];
  readonly test?: SequentialPlan;
  /** The model's revision that began this experiment: outcomes are counted by it. New weights of the same arms keep it. */
  readonly epoch: number;
}

export const noTraffic: Traffic = { canaries: [], shadows: [], epoch: 0 };

/** Without a version that may serve no more. The others' weights stay: the champion takes over its part. */
export function withoutVersion(traffic: Traffic, version: number): Traffic {
  const canaries = traffic.canaries.filter((arm) => arm.version !== version);
  const shadows = traffic.shadows.filter((shadow) => shadow !== version);
  if (canaries.length === traffic.canaries.length && shadows.length === traffic.shadows.length) return traffic;
  return canaries.length === 0 ? { canaries, shadows, epoch: traffic.epoch } : { ...traffic, canaries, shadows };
}
