import type { FairsharePolicy } from "./types";

interface Waiting {
  readonly shareIdentifier?: string;
  readonly schedulingPriority: number;
}

/**
 * The next job of a fair-share queue: of the share that uses least for its weight, the job of the highest scheduling priority,
 * then the oldest. As in Batch a share's use counts times its weight factor, so that a *lower* factor gets more. What ran before
 * is forgotten at once: Batch remembers it for `shareDecaySeconds`.
 *
 * @param waiting oldest first
 * @param inUse vCPUs in use, by share identifier
 */
export function nextByFairShare<J extends Waiting>(
  policy: FairsharePolicy,
  waiting: readonly J[],
  inUse: ReadonlyMap<string, number>,
): J | undefined {
  let best: J | undefined;
  let bestUse = Number.POSITIVE_INFINITY;
  for (const job of waiting) {
    const share = job.shareIdentifier ?? "";
    const use = (inUse.get(share) ?? 0) * weightOf(policy, share);
    const outranks = best && use === bestUse && share === best.shareIdentifier;
    if (use < bestUse || (outranks && job.schedulingPriority > best!.schedulingPriority)) {
      best = job;
      bestUse = use;
    }
  }
  return best;
}

/** An entry's identifier may end in `*`; the longest match decides; 1 for who is not listed. */
function weightOf(policy: FairsharePolicy, share: string): number {
  const entry = (policy.shareDistribution ?? [])
    .filter(({ shareIdentifier: id }) => (id.endsWith("*") ? share.startsWith(id.slice(0, -1)) : id === share))
    .sort((a, b) => b.shareIdentifier.length - a.shareIdentifier.length)[0];
  return entry?.weightFactor ?? 1;
}
