import type { GangLimits } from "../../core/training/gang/decide";
import { patrol } from "../../core/training/gang/patrol";
import { withDeadline } from "./deadline";
import type { GangTimers } from "./environment";
import { gangSignals } from "./gang";
import type { MeshGeneration } from "./mesh-generation";
import type { GangOptions, GangTiming } from "./options";

/** Rank 0's look at the store now and then, on behalf of all: does someone wait to join, has the gang gone on without us? */
export function startPatrol(
  generation: MeshGeneration,
  options: GangOptions,
  limits: GangLimits,
  timing: GangTiming,
  timers: GangTimers,
): () => void {
  if (generation.rank !== 0) return () => {};
  let looking = false;
  return timers.every(timing.patrolMs, async () => {
    if (looking) return;
    looking = true;
    try {
      const look = options.store.read(options.gangId);
      const view = await withDeadline(look, timing.storeCallMs, "the gang's store", timers);
      const seen = patrol(view, generation.number, limits, timing, options.clock.now());
      if (seen === "joiner") generation.raise(gangSignals.joinerWaiting);
      if (seen === "overtaken") generation.abandon(`the gang went on to generation ${view.head?.number}`);
    } catch (error) {
      options.logger?.warn("patrol could not read the gang", { error: String(error) });
    } finally {
      looking = false;
    }
  });
}
