import type { Logger } from "../../core/logging";
import type { Cause, CauseRecord } from "../../core/retraining/cause";
import { type FireDependencies, fire } from "../../core/retraining/fire";
import type { RetrainingIndex, RetrainingSchedules } from "../../core/retraining/ports";
import { severities } from "../../core/retraining/rule";
import { type Happening, type RetrainEvent, readEvent } from "./events";
import { sweep } from "./sweep";

/** The parts of a deployment that the function uses. */
export interface RetrainPorts {
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

/** Returns the rules for a cause, each with its cause record. */
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
