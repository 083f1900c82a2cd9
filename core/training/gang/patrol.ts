import type { GangLimits } from "./decide";
import type { GangView } from "./model";
import { standingsIn } from "./standing";
import type { RendezvousTiming } from "./timing";

/**
 * What a training generation learns from a look at the store.
 * - `overtaken`: the gang went on without it; it must be given up.
 * - `joiner`: someone waits whom there is room for; re-form at the next step boundary.
 */
export type Patrol = "overtaken" | "joiner" | "quiet";

export function patrol(
  view: GangView,
  generation: number,
  limits: GangLimits,
  timing: RendezvousTiming,
  now: number,
): Patrol {
  const { head } = view;
  if (!head || head.number < generation) return "quiet";
  if (head.number > generation) return "overtaken";
  if (head.members.length >= limits.maxWorkers) return "quiet";
  const standing = standingsIn(view, now, timing);
  return view.members.some((member) => standing(member) === "ready") ? "joiner" : "quiet";
}
