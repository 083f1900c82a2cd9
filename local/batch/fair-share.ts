import type { FairsharePolicy } from "./types";

interface Waiting {
  readonly shareIdentifier?: string;
  readonly schedulingPriority: number;
}

/**
 * Returns the next job of a fair-share queue. It selects the share with the least use for its weight, in that share the
 * job with the highest scheduling priority, and then the oldest job. As in Batch, a share's use is multiplied by its
 * weight factor, so a *lower* factor gets more. Ended jobs do not count here. Batch counts them for
 * `shareDecaySeconds`.
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

/**
 * Returns the weight factor of a share. An identifier may end in `*`, and the longest match applies. An unlisted share
 * has weight 1.
 */
function weightOf(policy: FairsharePolicy, share: string): number {
  const entry = (policy.shareDistribution ?? [])
    .filter(({ shareIdentifier: id }) => (id.endsWith("*") ? share.startsWith(id.slice(0, -1)) : id === share))
    .sort((a, b) => b.shareIdentifier.length - a.shareIdentifier.length)[0];
  return entry?.weightFactor ?? 1;
}
