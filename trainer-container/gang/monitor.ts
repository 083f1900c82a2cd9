import type { GangLimits } from "./decide";
import { isSameRegistration, statusesIn } from "./member-status";
import type { GangView, MemberRecord } from "./model";
import { canMeet } from "./reach";
import type { RendezvousTiming } from "./timing";

/**
 * Result of a training generation's check of the store.
 * - `superseded`: there is a newer generation; this one must be abandoned.
 * - `joiner`: a member waits that fits in and that all can reach; re-form at the next step boundary.
 */
export type Check = "superseded" | "joiner" | "quiet";

/** Compares the store's view with rank 0's generation. Pure. */
export function monitor(
  view: GangView,
  generation: number,
  limits: GangLimits,
  timing: RendezvousTiming,
  now: number,
): Check {
  const { head } = view;
  if (!head || head.number < generation) return "quiet";
  if (head.number > generation) return "superseded";
  if (head.members.length >= limits.maxWorkers) return "quiet";
  const status = statusesIn(view, now, timing);
  const inside = view.members.filter((member) => head.members.some((sealed) => isSameRegistration(sealed, member)));
  const joins = (member: MemberRecord) =>
    status(member) === "ready" && inside.every((other) => canMeet(member, other, now));
  return view.members.some(joins) ? "joiner" : "quiet";
}
