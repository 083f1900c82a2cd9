import type { Gang } from "./gang";
import { timingOf } from "./large-gang";
import { byOwnClock } from "./lease-observer";
import { defaultGangTiming, type GangOptions } from "./options";
import { RendezvousGang } from "./rendezvous-gang";

export type { GangLogger, GangOptions, GangTiming } from "./options";
export { defaultGangTiming } from "./options";

/**
 * Creates this process's membership in a gang. It does nothing before `enter`. After `leave` nothing keeps running.
 *
 * @throws RangeError if the numbers of workers and micro-batches contradict each other
 */
export function createGang(options: GangOptions): Gang {
  const { store, clock, timing, expectedWorkers } = options;
  const { leaseMs } = timingOf({ ...defaultGangTiming, ...timing }, expectedWorkers);
  return new RendezvousGang({ ...options, store: byOwnClock(store, clock, leaseMs) });
}
