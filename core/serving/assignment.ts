import { createHash } from "node:crypto";
import type { CanaryArm } from "./traffic";

/** A version and its part. */
type Arm = CanaryArm;

/**
 * The version that a unit gets: a function of model, unit and arms alone, so that any process answers the same without a store.
 *
 * By weighted rendezvous hashing (Schindelhauer and Schomaker, "Weighted Distributed Hash Tables", SPAA 2005): each arm draws an exponential time
 * with its weight as rate, from a hash of model, version and unit, and the first wins, which each arm does with the probability of its weight. A change of
 * weights moves only those units that it must: into arms whose weight grew, out of arms whose weight fell.
 *
 * @param unit whom to be consistent with: a user, a session, a device; any text
 * @param champion gets what the canaries' weights leave over
 */
export function assign(model: string, unit: string, champion: number, canaries: readonly CanaryArm[]): number {
  const arms = armsOf(champion, canaries);
  let first = arms[0]!;
  let earliest = Number.POSITIVE_INFINITY;
  for (const arm of arms) {
    const time = -Math.log(uniform(model, unit, arm.version)) / arm.weight;
    if (time < earliest) [first, earliest] = [arm, time];
  }
  return first.version;
}

/** Those that get units at all, the champion first. */
export function armsOf(champion: number, canaries: readonly CanaryArm[]): readonly Arm[] {
  const taken = canaries.reduce((sum, { weight }) => sum + weight, 0);
  // Weights as 0.1 and 0.9 may sum to a little more or less than 1.
  const rest = 1 - taken;
  return [...(rest > 1e-9 || canaries.length === 0 ? [{ version: champion, weight: rest }] : []), ...canaries];
}

/** In (0, 1), of 52 bits. */
function uniform(model: string, unit: string, version: number): number {
  const digest = createHash("sha256").update(`${model}\0${version}\0${unit}`).digest();
  const bits = digest.readUIntBE(0, 6) * 16 + (digest[6]! >> 4);
  return (bits + 0.5) / 2 ** 52;
}
