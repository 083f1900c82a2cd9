import type { GangLimits } from "./decide";
import { isSameRegistration, standingsIn } from "./member-status";
import type { GangView, MemberRecord } from "./model";
import { canMeet } from "./reach";
import type { RendezvousTiming } from "./timing";

/**
 * What a training generation learns from a look at the store.
 * - `overtaken`: the gang went on without it; it must be given up.
 * - `joiner`: someone waits whom there is room for, and whom all can reach; re-form at the next step boundary.
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
  const inside = view.members.filter((member) => head.members.some((sealed) => isSameRegistration(sealed, member)));
  const joins = (member: MemberRecord) =>
    standing(member) === "ready" && inside.every((other) => canMeet(member, other, now));
  return view.members.some(joins) ? "joiner" : "quiet";
}
