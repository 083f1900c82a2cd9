import type { EventBridgeEvent } from "aws-lambda";
import { teamNamePattern } from "../../core/access/principals";
import { type Severity, severities } from "../../core/drift/shapes";
import type { PipelineEnded } from "../../core/pipelines/ports";
import type { ModelEvent } from "../../core/registry/outbox";
import type { RunEnded } from "../../core/training/run-ended";
import type { ScheduleInput } from "../../core/triggers/ports";
import { parseDriftAlarmName } from "../../platform/triggers";

interface ObjectCreated {
  readonly bucket: { readonly name: string };
  readonly object: { readonly key: string };
}

export interface DriftDetected {
  /** The prefix of the receiving deployment; its rule on the bus matches only its own. */
  readonly platform: string;
  readonly team: string;
  readonly monitor: string;
  /** End of the window in which drift was found. It identifies the finding. */
  readonly windowEnd: string;
  readonly severity?: Severity;
}

interface AlarmStateChange {
  readonly alarmName: string;
  readonly state: { readonly value: string; readonly timestamp?: string };
}

export type TriggerEvent =
  | EventBridgeEvent<"Object Created", ObjectCreated>
  | EventBridgeEvent<"Drift Detected", DriftDetected>
  | EventBridgeEvent<"CloudWatch Alarm State Change", AlarmStateChange>
  | EventBridgeEvent<"Model Version Changed", ModelEvent>
  | EventBridgeEvent<"Training Run Ended", RunEnded>
  | EventBridgeEvent<"Pipeline Run Ended", PipelineEnded>
  | EventBridgeEvent<"Scheduled Event", unknown>
  | ScheduleInput;

/** The cause in an event, which is the same for each event of it. */
export type Happening =
  | { readonly type: "dataset"; readonly team: string; readonly dataset: string; readonly version: number }
  | { readonly type: "schedule"; readonly team: string; readonly trigger: string; readonly at: string }
  | {
      readonly type: "drift";
      readonly team: string;
      readonly monitor: string;
      readonly at: string;
      readonly windowEnd: string;
      readonly severity: Severity;
    }
  | {
      readonly type: "model";
      readonly team: string;
      readonly at: string;
      readonly model: string;
      readonly version: number;
      readonly revision: number;
      /** The stage or alias that the version got. */
      readonly to: string;
    }
  | {
      readonly type: "pipeline";
      readonly team: string;
      readonly at: string;
      readonly pipeline: string;
      readonly pipelineRunId: string;
      readonly status: string;
      /** The trigger that started the run. */
      readonly trigger?: string;
    }
  /** A run of the trigger has ended. */
  | { readonly type: "ended"; readonly team: string; readonly trigger: string }
  | { readonly type: "sweep" }
  /** An event that is not ours or not valid. A retry would not change it. */
  | { readonly type: "none"; readonly reason: string };

const manifestKey = /^teams\/([^/]+)\/datasets\/([^/]+)\/versions\/([1-9]\d{0,8})\/manifest\.json$/;

export function readEvent(event: TriggerEvent, own: { readonly bucket: string; readonly prefix: string }): Happening {
  if ("type" in event) {
    const at = iso(event.scheduledTime);
    return event.type === "trigger-schedule" && at !== undefined
      ? checked({ type: "schedule", team: event.team, trigger: event.trigger, at })
      : none("a schedule's input must have a scheduledTime");
  }
  switch (event["detail-type"]) {
    case "Scheduled Event":
      return { type: "sweep" };
    case "Object Created": {
      const { bucket, object } = event.detail;
      const [, team, dataset, version] = manifestKey.exec(object.key) ?? [];
      if (bucket.name !== own.bucket || !team || !dataset || !version)
        return none(`${bucket.name}/${object.key} is no dataset version's manifest`);
      return checked({ type: "dataset", team, dataset, version: Number(version) });
    }
    case "Drift Detected": {
      const { team, monitor, windowEnd, severity = "warning" } = event.detail;
      const [at, end] = [iso(event.time), iso(windowEnd)];
      if (at === undefined || end === undefined || typeof monitor !== "string" || !severities.includes(severity))
        return none("a drift event must have team, monitor, windowEnd (ISO 8601) and a known severity, if any");
      return checked({ type: "drift", team, monitor, at, windowEnd: end, severity });
    }
    case "CloudWatch Alarm State Change": {
      const { alarmName, state } = event.detail;
      const names = parseDriftAlarmName(own.prefix, alarmName);
      const at = iso(state.timestamp ?? event.time);
      if (!names || state.value !== "ALARM" || at === undefined) return none(`${alarmName} is ${state.value}`);
      // An alarm has no severity. Its threshold counts as critical.
      return checked({ type: "drift", ...names, at, windowEnd: at, severity: "critical" });
    }
    case "Model Version Changed": {
      const { team, at, model, version, revision, action, subject } = event.detail;
      const to = action === "alias-set" ? subject : event.detail.to;
      if (version === undefined || to === undefined) return none(`${action} gives no version a stage or alias`);
      return checked({ type: "model", team, at, model, version, revision, to });
    }
    case "Training Run Ended": {
      const { team, cause, runId } = event.detail;
      return cause ? checked({ type: "ended", team, trigger: cause.trigger }) : none(`${runId} has no trigger`);
    }
    case "Pipeline Run Ended": {
      const { team, at, pipeline, pipelineRunId, status, trigger } = event.detail;
      return checked({ type: "pipeline", team, at, pipeline, pipelineRunId, status, ...(trigger ? { trigger } : {}) });
    }
    default:
      return none(
        `it is of no kind that fires triggers: ${JSON.stringify((event as { "detail-type"?: unknown })["detail-type"])}`,
      );
  }
}

/** Names become parts of keys. */
function checked(happening: Extract<Happening, { team: string }>): Happening {
  return teamNamePattern.test(happening.team) ? happening : none(`${JSON.stringify(happening.team)} is no team`);
}

function none(reason: string): Happening {
  return { type: "none", reason };
}

/** Formats a time with milliseconds and Z, so that the same time always gives the same text. */
function iso(time: unknown): string | undefined {
  const parsed = typeof time === "string" ? Date.parse(time) : Number.NaN;
  return Number.isNaN(parsed) ? undefined : new Date(parsed).toISOString();
}
