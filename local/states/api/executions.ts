import { randomUUID } from "node:crypto";
import { region } from "../../account";
import { parseJson } from "../../json";
import { executionArn, executionName, stateMachineArn } from "../arns";
import { type MapRun, mapRunResource } from "../engine/map-run";
import { ServiceError } from "../errors";
import type { Json } from "../json";
import { type Fact, isHidden, type LogRecord, type ScheduledTask } from "../store/log-record";
import type { ExecutionSummary } from "../store/records";
import { checkedName, type Input, nextToken } from "./input";
import { type Api, findMachine, type Operation } from "./operation";

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
function historyEvent(record: LogRecord, roleArn: string, data: boolean): object | undefined {
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

async function findExecution(input: Input, { store }: Pick<Api, "store">): Promise<ExecutionSummary> {
  const arn = input.string("executionArn", { max: 256 });
  const summary = await store.execution(executionName(arn));
  if (summary) return summary;
  throw new ServiceError("ExecutionDoesNotExist", `Execution Does Not Exist: '${arn}'`);
}

function checkedInput(input: Input): string {
  const text = input.optional("input", { min: 0 }) ?? "{}";
  try {
    parseJson(text);
    return text;
  } catch (error) {
    const why = text === "" ? "Invalid execution input." : (error as Error).message;
    throw new ServiceError("InvalidExecutionInput", `Invalid State Machine Execution Input: '${why}'`, {
      cause: error,
    });
  }
}

export const startExecution: Operation = async (input, api) => {
  const arn = input.string("stateMachineArn", { max: 256 });
  const name = checkedName(input.optional("name") ?? randomUUID());
  const traceHeader = input.optional("traceHeader", { min: 0, max: 256 });
  const text = checkedInput(input);
  const { name: machineName } = await findMachine(api, arn);
  const summary = await api.exclusively(machineName, async () => {
    const machine = await findMachine(api, arn);
    return api.engine.start(machine, { name, input: text, traceHeader });
  });
  return { executionArn: executionArn(summary.machine, summary.name), startDate: summary.startedAt / 1000 };
};

const brief = (summary: ExecutionSummary) => ({
  executionArn: executionArn(summary.machine, summary.name),
  stateMachineArn: stateMachineArn(summary.machine),
  name: summary.name,
  status: summary.status,
  startDate: summary.startedAt / 1000,
  stopDate: summary.stoppedAt === undefined ? undefined : summary.stoppedAt / 1000,
  redriveCount: 0,
});

export const describeExecution: Operation = async (input, api) => {
  const summary = await findExecution(input, api);
  const data = input.oneOf("includedData", ["ALL_DATA", "METADATA_ONLY"]) !== "METADATA_ONLY";
  const { output, error, cause, traceHeader, status } = summary;
  return {
    ...brief(summary),
    input: data ? summary.input : undefined,
    inputDetails: { included: data },
    ...(output !== undefined && { ...(data && { output }), outputDetails: { included: data } }),
    error,
    cause: data ? cause : undefined,
    traceHeader,
    redriveStatus: "NOT_REDRIVABLE",
    redriveStatusReason: `Execution is ${status} and cannot be redriven`,
  };
};

export const stopExecution: Operation = async (input, api) => {
  const error = input.optional("error", { min: 0, max: 256 });
  const cause = input.optional("cause", { min: 0, max: 32_768 });
  const summary = await findExecution(input, api);
  const stopped = await api.engine.find(summary)?.stop({ error, cause });
  return { stopDate: (stopped ?? summary.stoppedAt ?? api.clock.now()) / 1000 };
};

const statuses = ["SUCCEEDED", "TIMED_OUT", "PENDING_REDRIVE", "ABORTED", "FAILED", "RUNNING"] as const;

export const listExecutions: Operation = async (input, api) => {
  const { name } = await findMachine(api, input.string("stateMachineArn", { max: 256 }));
  const status = input.oneOf("statusFilter", statuses);
  const limit = input.maxResults();
  const executions: object[] = [];
  let last: string | undefined;
  for await (const { cursor, summary } of api.store.executions(name, input.cursor("executions"))) {
    if (status !== undefined && summary.status !== status) continue;
    if (executions.length === limit) return { executions, ...nextToken("executions", last) };
    executions.push(brief(summary));
    last = cursor;
  }
  return { executions };
};

export const getExecutionHistory: Operation = async (input, api) => {
  const summary = await findExecution(input, api);
  const limit = input.maxResults();
  const reverse = input.boolean("reverseOrder", false);
  const data = input.boolean("includeExecutionData", true);
  const from = Number(input.cursor("history") ?? 0);
  const events: object[] = [];
  let last = 0;
  const range = from === 0 ? {} : reverse ? { before: from } : { after: from };
  for await (const record of api.store.log(summary, { ...range, reverse })) {
    const event = historyEvent(record, summary.roleArn, data);
    if (!event) continue;
    if (events.length === limit) return { events, ...nextToken("history", String(last)) };
    events.push(event);
    last = record.seq;
  }
  return { events };
};
