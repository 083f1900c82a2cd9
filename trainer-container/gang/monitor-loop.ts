import { withDeadline } from "./deadline";
import type { GangLimits } from "./decide";
import type { GangTimers } from "./environment";
import { gangSignals } from "./gang";
import type { MeshGeneration } from "./mesh-generation";
import { patrol } from "./monitor";
import type { GangOptions, GangTiming } from "./options";

export interface Patrol {
  stop(): void;
  /**
   * Awaited before a step counts. A process that was frozen for longer than a lease may find its place taken: it looks at the store first. The
   * connections tell of most such freezes, but not where a whole generation was frozen at once, or is one worker.
   */
  awake(): Promise<void>;
}

/** Rank 0's look at the store now and then, on behalf of all: does someone wait to join, has the gang gone on without us? */
export function startPatrol(
  generation: MeshGeneration,
  options: GangOptions,
  limits: GangLimits,
  timing: GangTiming,
  timers: GangTimers,
): Patrol {
  if (generation.rank !== 0) return { stop: () => {}, awake: async () => {} };
  const { store, gangId, clock, logger } = options;
  let looking = false;
  let afterFreeze: Promise<void> | undefined;
  let seenAt = { monotonic: timers.now(), wall: clock.now() };

  async function look(): Promise<void> {
    try {
      const view = await withDeadline(store.read(gangId), timing.storeCallMs, "the gang's store", timers);
      const seen = patrol(view, generation.number, limits, timing, clock.now());
      if (seen === "joiner") generation.raise(gangSignals.joinerWaiting);
      if (seen === "overtaken") generation.abandon(`the gang went on to generation ${view.head?.number}`);
    } catch (error) {
      logger?.warn("patrol could not read the gang", { error: String(error) });
    }
  }

  /** A frozen host's monotonic clock may have stood still, a process's has not. */
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

  const stop = timers.every(timing.patrolMs, () => {
    noticeFreeze();
    if (looking) return;
    looking = true;
    void (afterFreeze ?? look()).finally(() => {
      looking = false;
    });
  });
  return {
    stop,
    awake: async () => {
      noticeFreeze();
      await afterFreeze;
    },
  };
}
