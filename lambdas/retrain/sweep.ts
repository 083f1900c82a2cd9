import { type FireDependencies, fire } from "../../core/retraining/fire";
import { syncSchedule } from "../../core/retraining/lifecycle";
import type { RetrainingIndex, RetrainingSchedules } from "../../core/retraining/ports";

export interface SweepDependencies {
  readonly index: RetrainingIndex;
  readonly schedules: RetrainingSchedules;
  readonly forTeam: (team: string) => FireDependencies;
  /** Called for a rule that fails; the other rules are still processed. */
  readonly onError: (what: { readonly team: string; readonly rule: string }, error: unknown) => void;
}

/** Number of a dataset's newest versions that are searched for in the rule's history. */
const versionsLookedAt = 8;

/**
 * Repairs the effects of lost events and processes: new versions without an event, causes that wait or were started,
 * schedules that differ from their rule, and schedules of deleted rules.
 */
export async function sweep({ index, schedules, forTeam, onError }: SweepDependencies): Promise<void> {
  const each = async <Item extends { readonly team: string; readonly rule: string }>(
    items: readonly Item[],
    work: (item: Item, team: FireDependencies) => Promise<void>,
  ): Promise<void> => {
    for (const item of items) await work(item, forTeam(item.team)).catch((error: unknown) => onError(item, error));
  };
  await each(await index.openCauses(), async ({ rule, id }, team) => {
    const record = await team.retraining.findCause(rule, id);
    if (record) await fire(team, rule, record.cause);
  });
  const rules = await index.rules();
  await each(rules, async ({ rule }, team) => {
    await syncSchedule({ ...team, schedules }, rule);
    await fireLostVersions(team, rule);
  });
  const listed = new Set(rules.map(({ team, rule }) => `${team}.${rule}`));
  const unknown = (await schedules.list()).filter(({ team, rule }) => !listed.has(`${team}.${rule}`));
  await each(unknown, async ({ team: name, rule }, team) => {
    // The listing may be outdated; the row is authoritative.
    const state = await team.retraining.find(rule);
    if (state?.rule.trigger.type === "schedule" && state.rule.deletedAt === undefined) return;
    await schedules.delete(name, rule);
  });
}

/** Fires for each of the newest versions that has no cause yet. The event of any of them may be lost. */
async function fireLostVersions(team: FireDependencies, name: string): Promise<void> {
  const { retraining, datasets } = team;
  const state = await retraining.find(name);
  if (state?.rule.trigger.type !== "dataset" || !state.rule.enabled) return;
  const { dataset } = state.rule.trigger;
  const newest = (await datasets.findNewest(dataset))?.manifest.version ?? 0;
  for (let version = newest; version > Math.max(0, newest - versionsLookedAt); version -= 1) {
    if (await retraining.findCause(name, `dataset:${dataset}@${version}`)) continue;
    const found = await datasets.find(dataset, version);
    if (!found || found.manifest.createdAt < state.rule.since) return;
    await fire(team, name, { type: "dataset", at: found.manifest.createdAt, dataset, version });
  }
}
