import type { Clock } from "../../core/ports";
import { LeaseObserver } from "./lease-observer";
import type { GangStore } from "./store";

/** The store, with leases told by this process's own clock wherever it reads a whole gang: hosts' clocks may differ by more than a lease. */
export function byOwnClock(store: GangStore, clock: Clock, leaseMs: number): GangStore {
  const leases = new LeaseObserver(leaseMs);
  return Object.assign(Object.create(store) as GangStore, {
    read: async (gangId: string) => leases.observe(await store.read(gangId), clock.now()),
  });
}
