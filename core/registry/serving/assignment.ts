import { createHash } from "node:crypto";
import { slots, type Traffic } from "./traffic";

/**
 * Returns the version for a unit: a function of model, traffic and unit alone. Every process gives the same result. If
 * the traffic changes, as few units as possible change their version.
 *
 * @param unit a user, a session or a device, as any text
 * @param champion gets the units that the canaries leave
 */
export function assign(model: string, unit: string, champion: number, { canaries, deal }: Traffic): number {
  const slot = slotOf(model, deal, unit);
  const canary = canaries.find(({ ranges }) => ranges.some(({ from, to }) => slot >= from && slot < to));
  return canary?.version ?? champion;
}

/** Returns the unit's slot by SHA-256, whose first 48 bits are uniform over the slots to one part in 10^10. */
function slotOf(model: string, deal: number, unit: string): number {
  const digest = createHash("sha256").update(`${model}\0${deal}\0${unit}`).digest();
  return digest.readUIntBE(0, 6) % slots;
}
