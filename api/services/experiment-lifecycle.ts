import type { Platform } from "../../adapters/platform";
import { eachLimited } from "../../core/each-limited";
import { isoTime } from "../../core/ports";
import type { Experiment, Lifecycle } from "../../core/tracking/shapes";

/** A listing may lack changes of the last minute; the marks of changes have them. */
const listingLagMs = 60_000;
const concurrency = 16;

/** Deletes or restores an experiment with all runs, for every API. The runs come first, so that it can be repeated. */
export async function setLifecycle(
  platform: Platform,
  experimentId: string,
  lifecycle: Lifecycle,
): Promise<Experiment> {
  const { records, changes, experiments, clock } = platform;
  const at = isoTime(clock);
  const change = (runId: string) =>
    records.change(runId, ({ deletedAt, ...record }) => {
      if (record.lifecycle === lifecycle) return undefined;
      return { ...record, lifecycle, ...(lifecycle === "deleted" ? { deletedAt: at } : {}) };
    });
  const seen = new Set<string>();
  for await (const page of records.list(experimentId)) {
    const others = page.filter((run) => run.lifecycle !== lifecycle);
    for (const { runId } of page) seen.add(runId);
    await eachLimited(others, concurrency, ({ runId }) => change(runId));
  }
  const recent = await changes.since(experimentId, clock.now() - listingLagMs);
  await eachLimited(
    recent.filter((runId) => !seen.has(runId)),
    concurrency,
    change,
  );
  return experiments.change(experimentId, (experiment) =>
    experiment.lifecycle === lifecycle ? undefined : { ...experiment, lifecycle, updatedAt: at },
  );
}
