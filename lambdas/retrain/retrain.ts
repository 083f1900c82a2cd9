import { severities } from "../../core/drift/shapes";
import type { Logger } from "../../core/logging";
import type { Cause, CauseRecord } from "../../core/retraining/cause";
import { type FireDependencies, fire } from "../../core/retraining/fire";
import { syncSchedule } from "../../core/retraining/lifecycle";
import type { RetrainingIndex, RetrainingSchedules } from "../../core/retraining/ports";
import { type Happening, type RetrainEvent, readEvent } from "./events";

interface SweepDependencies {
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
    const manifest = await datasets.find(dataset, version);
    if (!manifest || manifest.manifest.createdAt < state.rule.since) return;
    await fire(team, name, { type: "dataset", at: manifest.manifest.createdAt, dataset, version });
  }
}

interface RetrainPorts {
  readonly config: Parameters<typeof readEvent>[1];
  readonly retrainingIndex: RetrainingIndex;
  readonly schedules: RetrainingSchedules;
  forTeam(team: string): Omit<FireDependencies, "randomId">;
}

/** Processes one event. Rejects after a transient error, so that the event is delivered again. Idempotent. */
export function createRetrainHandler(deployment: RetrainPorts, logger: Logger, randomId: () => string) {
  const teamOf = (team: string): FireDependencies => ({ ...deployment.forTeam(team), randomId });

  return async (event: RetrainEvent): Promise<readonly CauseRecord[]> => {
    const happening = readEvent(event, deployment.config);
    if (happening.type === "none") {
      logger.log("warn", "event ignored", { reason: happening.reason });
      return [];
    }
    if (happening.type === "sweep") {
      await sweep({
        index: deployment.retrainingIndex,
        schedules: deployment.schedules,
        forTeam: teamOf,
        onError: (what, error) => logger.log("error", "cannot look after a retraining rule", { ...what, error }),
      });
      return [];
    }
    const team = teamOf(happening.team);
    const causes = await causesOf(team, happening);
    const results = await Promise.allSettled(causes.map(([rule, cause]) => fire(team, rule, cause)));
    const records: CauseRecord[] = [];
    for (const result of results) {
      if (result.status === "rejected" || !result.value) continue;
      const { rule, id, state, runId, reason, failure } = result.value;
      logger.log(state === "failed" ? "error" : "info", "received a cause", {
        team: happening.team,
        rule,
        cause: id,
        state,
        runId,
        reason,
        failure,
      });
      records.push(result.value);
    }
    const failed = results.find((result) => result.status === "rejected");
    if (failed) throw failed.reason;
    return records;
  };
}

async function causesOf(
  { retraining, datasets }: FireDependencies,
  happening: Exclude<Happening, { type: "none" | "sweep" }>,
): Promise<readonly (readonly [rule: string, cause: Cause])[]> {
  switch (happening.type) {
    case "schedule":
      return [[happening.rule, { type: "schedule", at: happening.at }]];
    case "dataset": {
      const { dataset, version } = happening;
      const [rules, found] = await Promise.all([
        retraining.rulesOf("dataset", dataset),
        datasets.find(dataset, version),
      ]);
      // The row is authoritative. It was written before its copy in the bucket, whose event this is.
      if (!found) return [];
      return rules.map((rule) => [rule, { type: "dataset", at: found.manifest.createdAt, dataset, version }]);
    }
    case "drift": {
      const { monitor, at, windowEnd, severity } = happening;
      const rules = await retraining.rulesOf("drift", monitor);
      const states = await Promise.all(rules.map((rule) => retraining.find(rule)));
      return states.flatMap((state) => {
        const trigger = state?.rule.trigger;
        if (trigger?.type !== "drift" || severities.indexOf(severity) < severities.indexOf(trigger.severity)) return [];
        return [[state!.rule.name, { type: "drift", at, monitor, windowEnd, severity }] as const];
      });
    }
  }
}
