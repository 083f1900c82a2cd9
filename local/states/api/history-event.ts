import { region } from "../../account";
import { type MapRun, mapRunResource } from "../engine/map-run";
import type { Json } from "../json";
import { type Fact, isHidden, type LogRecord, type ScheduledTask } from "../store/log-record";

/** A history event in the API: its type, and its details under the key for that type. */
type Shown = readonly [type: string, key?: string, details?: Readonly<Record<string, unknown>>];

const text = (name: string, value: Json, data: boolean): Readonly<Record<string, unknown>> =>
  data ? { [name]: JSON.stringify(value), [`${name}Details`]: { truncated: false } } : {};

const failure = ({ error, cause }: { readonly error?: string; readonly cause?: string }) => ({
  error,
  cause,
});

function parts(resource: string): { readonly resourceType: string; readonly resource: string } {
  const [, , , , , resourceType = "", name = ""] = resource.split(":");
  return { resourceType, resource: name };
}

function scheduled(task: ScheduledTask, data: boolean): Shown {
  if (task.resource === mapRunResource) {
    return ["MapStateStarted", "mapStateStarted", { length: (task.parameters as unknown as MapRun).inputs.length }];
  }
  const limits = { timeoutInSeconds: task.timeoutSeconds, heartbeatInSeconds: task.heartbeatSeconds };
  const parameters = data ? JSON.stringify(task.parameters) : "";
  return ["TaskScheduled", "taskScheduled", { ...parts(task.resource), region, parameters, ...limits }];
}

/** Builds an event of a task. */
function task(
  resource: string,
  what: "Started" | "Submitted" | "Succeeded" | "Failed" | "TimedOut",
  details: object,
): Shown {
  if (resource === mapRunResource) return [`MapRun${what}`, `mapRun${what}`, what === "Failed" ? { ...details } : {}];
  return [`Task${what}`, `task${what}`, { ...parts(resource), ...details }];
}

function show(fact: Fact, roleArn: string, data: boolean): Shown {
  switch (fact.type) {
    case "ExecutionStarted":
      return [fact.type, "executionStarted", { ...text("input", fact.input, data), roleArn }];
    case "ExecutionSucceeded":
      return [fact.type, "executionSucceeded", text("output", fact.output, data)];
    case "ExecutionFailed":
      return [fact.type, "executionFailed", failure(fact)];
    case "ExecutionAborted":
      return [fact.type, "executionAborted", failure(fact)];
    case "ExecutionTimedOut":
      return [fact.type, "executionTimedOut", { error: "States.Timeout" }];
    case "StateEntered":
      return [`${fact.state}StateEntered`, "stateEntered", { name: fact.name, ...text("input", fact.input, data) }];
    case "StateExited":
      return [`${fact.state}StateExited`, "stateExited", { name: fact.name, ...exited(fact, data) }];
    case "StateAborted":
      return [`${fact.state}StateAborted`];
    case "EvaluationFailed":
      return [fact.type, "evaluationFailed", { ...failure(fact), location: fact.location, state: fact.state }];
    case "TaskScheduled":
      return scheduled(fact, data);
    case "TaskStarted":
      return task(fact.resource, "Started", {});
    case "TaskSubmitted":
      return task(fact.resource, "Submitted", text("output", fact.output, data));
    case "TaskSucceeded":
      return task(fact.resource, "Succeeded", text("output", fact.output, data));
    case "TaskFailed":
      return task(fact.resource, "Failed", failure(fact));
    case "TaskTimedOut":
      return task(fact.resource, "TimedOut", { error: "States.Timeout" });
    case "MapStarted":
      return ["MapStateStarted", "mapStateStarted", { length: fact.items.length }];
    case "MapIterationStarted":
    case "MapIterationSucceeded":
    case "MapIterationFailed":
    case "MapIterationAborted":
      return [fact.type, `m${fact.type.slice(1)}`, { name: fact.name, index: fact.index }];
    case "ParallelStarted":
    case "ParallelSucceeded":
    case "ParallelFailed":
    case "MapSucceeded":
    case "MapFailed":
      return [fact.type.replace(/^(Parallel|Map)/, "$1State")];
    default:
      return [fact.type];
  }
}

function exited(fact: Fact & { readonly type: "StateExited" }, data: boolean): Readonly<Record<string, unknown>> {
  const { assigned } = fact;
  if (!data) return {};
  const variables =
    assigned && Object.fromEntries(Object.entries(assigned).map(([name, value]) => [name, JSON.stringify(value)]));
  return {
    ...text("output", fact.output, data),
    ...(variables && { assignedVariables: variables, assignedVariablesDetails: { truncated: false } }),
  };
}

/** Converts a record for `GetExecutionHistory`. Returns undefined for a record that AWS's history does not contain. */
export function historyEvent(record: LogRecord, roleArn: string, data: boolean): object | undefined {
  if (isHidden(record)) return undefined;
  const [type, key, details] = show(record, roleArn, data);
  return {
    id: record.id,
    previousEventId: record.previous,
    timestamp: record.at / 1000,
    type,
    ...(key !== undefined && { [`${key}EventDetails`]: details }),
  };
}
