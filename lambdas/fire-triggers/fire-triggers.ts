import { severities } from "../../core/drift/shapes";
import type { Logger } from "../../core/logging";
import type { Cause, CauseRecord } from "../../core/triggers/cause";
import { type FireDependencies, fire, fireWaiting } from "../../core/triggers/fire";
import { syncSchedule } from "../../core/triggers/lifecycle";
import type { TriggerIndex, TriggerSchedules } from "../../core/triggers/ports";
import { lateMinutes, scheduledTimes, type Trigger } from "../../core/triggers/trigger";
import { type Happening, readEvent, type TriggerEvent } from "./events";

interface SweepDependencies {
  readonly index: TriggerIndex;
  readonly schedules: TriggerSchedules;
  readonly forTeam: (team: string) => FireDependencies;
  /** Called for a trigger that fails; the others are still processed. */
  readonly onError: (what: { readonly team: string; readonly trigger: string }, error: unknown) => void;
}

/** Number of a dataset's newest versions that are searched for in the trigger's history. */
const versionsLookedAt = 8;
/** The newest causes of a trigger, of which one may be the last scheduled time that was received. */
const causesLookedAt = 20;
/** Scheduled times that one sweep fires. */
const maxLostTimes = 100;

/**
 * Repairs the effects of lost events and processes: new versions and
 * scheduled times without an event, causes that wait or were started,
 * schedules that differ from their trigger, and schedules of deleted triggers.
 */
export async function sweep({ index, schedules, forTeam, onError }: SweepDependencies): Promise<void> {
  const each = async <Item extends { readonly team: string; readonly trigger: string }>(
    items: readonly Item[],
    work: (item: Item, team: FireDependencies) => Promise<void>,
  ): Promise<void> => {
    for (const item of items) await work(item, forTeam(item.team)).catch((error: unknown) => onError(item, error));
  };
  await each(await index.openCauses(), async ({ trigger, id }, team) => {
    const record = await team.triggers.findCause(trigger, id);
    if (record) await fire(team, trigger, record.cause);
  });
  const all = await index.triggers();
  await each(all, async ({ trigger }, team) => {
    await syncSchedule({ ...team, schedules }, trigger);
    await fireLost(team, trigger);
  });
  const listed = new Set(all.map(({ team, trigger }) => `${team}.${trigger}`));
  const unknown = (await schedules.list()).filter(({ team, trigger }) => !listed.has(`${team}.${trigger}`));
  await each(unknown, async ({ team: name, trigger }, team) => {
    // The listing may be outdated; the row is authoritative.
    const state = await team.triggers.find(trigger);
    if (state?.trigger.on.type === "schedule" && state.trigger.deletedAt === undefined) return;
    await schedules.delete(name, trigger);
  });
}

/** Fires for versions and scheduled times that have no cause yet. The event of any of them may be lost. */
async function fireLost(team: FireDependencies, name: string): Promise<void> {
  const { triggers, datasets } = team;
  const state = await triggers.find(name);
  if (!state?.trigger.enabled) return;
  if (state.trigger.on.type === "schedule") return fireLostTimes(team, state.trigger);
  if (state.trigger.on.type !== "dataset") return;
  const { dataset } = state.trigger.on;
  const newest = (await datasets.findNewest(dataset))?.manifest.version ?? 0;
  for (let version = newest; version > Math.max(0, newest - versionsLookedAt); version -= 1) {
    if (await triggers.findCause(name, `dataset:${dataset}@${version}`)) continue;
    const manifest = await datasets.find(dataset, version);
    if (!manifest || manifest.manifest.createdAt < state.trigger.since) return;
    await fire(team, name, { type: "dataset", at: manifest.manifest.createdAt, dataset, version });
  }
}

/** Fires the times of a schedule after the last one that was received, except for those that the Scheduler may still send. */
async function fireLostTimes(team: FireDependencies, trigger: Trigger): Promise<void> {
  const { triggers, clock } = team;
  const { items } = await triggers.listCauses(trigger.name, { limit: causesLookedAt });
  const received = items.filter(({ cause }) => cause.type === "schedule").map(({ cause }) => Date.parse(cause.at));
  const begin = clock.now() - trigger.catchUp.windowMinutes * 60_000;
  const after = Math.max(begin, Date.parse(trigger.since) - 1, ...received);
  for (const time of scheduledTimes(trigger, after, maxLostTimes)) {
    if (time > clock.now() - lateMinutes * 60_000) return;
    await fire(team, trigger.name, { type: "schedule", at: new Date(time).toISOString() });
  }
}

interface TriggerPorts {
  readonly config: Parameters<typeof readEvent>[1];
  readonly triggerIndex: TriggerIndex;
  readonly schedules: TriggerSchedules;
  forTeam(team: string): Omit<FireDependencies, "randomId">;
}

/** Processes one event. Rejects after a transient error, so that the event is delivered again. Idempotent. */
export function createTriggerHandler(deployment: TriggerPorts, logger: Logger, randomId: () => string) {
  const teamOf = (team: string): FireDependencies => ({ ...deployment.forTeam(team), randomId });

  return async (event: TriggerEvent): Promise<readonly CauseRecord[]> => {
    const happening = readEvent(event, deployment.config);
    if (happening.type === "none") {
      logger.log("warn", "event ignored", { reason: happening.reason });
      return [];
    }
    if (happening.type === "sweep") {
      await sweep({
        index: deployment.triggerIndex,
        schedules: deployment.schedules,
        forTeam: teamOf,
        onError: (what, error) => logger.log("error", "cannot look after a trigger", { ...what, error }),
      });
      return [];
    }
    const team = teamOf(happening.team);
    if (happening.type === "ended") {
      await fireWaiting(team, happening.trigger);
      return [];
    }
    if (happening.type === "pipeline" && happening.trigger !== undefined) await fireWaiting(team, happening.trigger);
    const causes = await causesOf(team, happening);
    const results = await Promise.allSettled(causes.map(([trigger, cause]) => fire(team, trigger, cause)));
    const records: CauseRecord[] = [];
    for (const result of results) {
      if (result.status === "rejected" || !result.value) continue;
      const { trigger, id, state, runId, reason, failure } = result.value;
      logger.log(state === "failed" ? "error" : "info", "received a cause", {
        team: happening.team,
        trigger,
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
  { triggers, datasets }: FireDependencies,
  happening: Exclude<Happening, { type: "none" | "sweep" | "ended" }>,
): Promise<readonly (readonly [trigger: string, cause: Cause])[]> {
  /** The triggers on a subject whose source accepts the event. */
  const accepting = async <T extends Trigger["on"]["type"]>(
    type: T,
    subject: string,
    accepts: (on: Extract<Trigger["on"], { type: T }>) => boolean,
  ): Promise<readonly string[]> => {
    const names = await triggers.triggersOn(type, subject);
    const states = await Promise.all(names.map((name) => triggers.find(name)));
    return states.flatMap((state) =>
      state?.trigger.on.type === type && accepts(state.trigger.on as never) ? [state.trigger.name] : [],
    );
  };
  switch (happening.type) {
    case "schedule":
      return [[happening.trigger, { type: "schedule", at: happening.at }]];
    case "dataset": {
      const { dataset, version } = happening;
      // The row is authoritative. It was written before its copy in the bucket, whose event this is.
      const found = await datasets.find(dataset, version);
      if (!found) return [];
      const at = found.manifest.createdAt;
      const names = await triggers.triggersOn("dataset", dataset);
      return names.map((name) => [name, { type: "dataset", at, dataset, version }]);
    }
    case "drift": {
      const { team: _, ...cause } = happening;
      const names = await accepting(
        "drift",
        cause.monitor,
        (on) => severities.indexOf(cause.severity) >= severities.indexOf(on.severity),
      );
      return names.map((name) => [name, cause]);
    }
    case "pipeline": {
      const { team: _, trigger: __, ...cause } = happening;
      const names = await accepting("pipeline", cause.pipeline, ({ status }) => status === cause.status);
      return names.map((name) => [name, cause]);
    }
    case "model": {
      const { team: _, ...cause } = happening;
      return (await accepting("model", cause.model, ({ to }) => to === cause.to)).map((name) => [name, cause]);
    }
  }
}
