import { createHash } from "node:crypto";
import { slots, type Traffic } from "./traffic";

/**
 * The version that a unit gets: a function of model, traffic and unit alone, so that any process answers the same, as long as the traffic stays as it is and,
 * where it changes, for all units that need not move.
 *
 * @param unit whom to be consistent with: a user, a session, a device; any text
 * @param champion gets what the canaries leave
 */
export function assign(model: string, unit: string, champion: number, { canaries, deal }: Traffic): number {
  const slot = slotOf(model, deal, unit);
  const canary = canaries.find(({ ranges }) => ranges.some(({ from, to }) => slot >= from && slot < to));
  return canary?.version ?? champion;
}

/** By SHA-256, whose first 48 bits are uniform to one part in 10^10 over the slots. */
function slotOf(model: string, deal: number, unit: string): number {
  const digest = createHash("sha256").update(`${model}\0${deal}\0${unit}`).digest();
  return digest.readUIntBE(0, 6) % slots;
}
