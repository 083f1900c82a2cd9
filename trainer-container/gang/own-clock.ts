import type { Clock } from "../../core/ports";
import { LeaseObserver } from "./lease-observer";
import type { GangStore } from "./store";

/** Wraps a store so that leases are measured by this process's own clock: clocks of hosts may differ by more than a lease. */
export function byOwnClock(store: GangStore, clock: Clock, leaseMs: number): GangStore {
  const leases = new LeaseObserver(leaseMs);
  return Object.assign(Object.create(store) as GangStore, {
    read: async (gangId: string) => leases.observe(await store.read(gangId), clock.now()),
  });
}
