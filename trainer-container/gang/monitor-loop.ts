import { type GangLimits, monitor } from "./decide";
import { type GangTimers, withDeadline } from "./environment";
import { gangSignals } from "./gang";
import type { MeshGeneration } from "./mesh-generation";
import type { GangOptions, GangTiming } from "./options";

export interface Monitor {
  stop(): void;
  /** Awaited before a step counts: a process frozen for longer than a lease may have been replaced. */
  checkFreeze(): Promise<void>;
}

/** Starts rank 0's periodic read of the store, which looks for members that wait to join and for a newer generation. */
export function startMonitor(
  generation: MeshGeneration,
  options: GangOptions,
  limits: GangLimits,
  timing: GangTiming,
  timers: GangTimers,
): Monitor {
  if (generation.rank !== 0) return { stop: () => {}, checkFreeze: async () => {} };
  const { store, gangId, clock, logger } = options;
  let looking = false;
  let afterFreeze: Promise<void> | undefined;
  let seenAt = { monotonic: timers.now(), wall: clock.now() };

  async function look(): Promise<void> {
    try {
      const records = await withDeadline(store.read(gangId), timing.storeCallMs, "the gang's store", timers);
      const seen = monitor(records, generation.number, limits, timing, clock.now());
      if (seen === "joiner") generation.raise(gangSignals.joinerWaiting);
      if (seen === "superseded") generation.abandon(`the gang went on to generation ${records.head?.number}`);
    } catch (error) {
      logger?.warn("the monitor could not read the gang", { error: String(error) });
    }
  }

  /** Detects a freeze by the monotonic clock (frozen process) or the wall clock (frozen host). */
  function noticeFreeze(): void {
    const at = { monotonic: timers.now(), wall: clock.now() };
    const gapMs = Math.max(at.monotonic - seenAt.monotonic, at.wall - seenAt.wall);
    seenAt = at;
    if (gapMs <= timing.leaseMs) return;
    const fresh = look().finally(() => {
      if (afterFreeze === fresh) afterFreeze = undefined;
    });
    afterFreeze = fresh;
  }

  const stop = timers.every(timing.monitorMs, () => {
    noticeFreeze();
    if (looking) return;
    looking = true;
    void (afterFreeze ?? look()).finally(() => {
      looking = false;
    });
  });
  return {
    stop,
    checkFreeze: async () => {
      noticeFreeze();
      await afterFreeze;
    },
  };
}
