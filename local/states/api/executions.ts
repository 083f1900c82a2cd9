import { randomUUID } from "node:crypto";
import { parseJson } from "../../json";
import { executionArn, executionName, stateMachineArn } from "../arns";
import { ServiceError } from "../errors";
import type { ExecutionSummary } from "../store/records";
import { historyEvent } from "./history-event";
import { checkedName, type Input, nextToken } from "./input";
import { type Api, findMachine, type Operation } from "./operation";

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
