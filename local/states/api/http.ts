import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { statesAccesses } from "../../iam/access/json";
import { AccessDenied, type Caller } from "../../iam/caller";
import { JsonLimitError, parseJson } from "../../json";
import { BodyTooLarge, readBody } from "../../wire";
import { readToken } from "../engine/token";
import { ServiceError } from "../errors";
import { byteLength, isObject, type Json, maxPayloadBytes } from "../json";
import * as executions from "./executions";
import { Input } from "./input";
import * as machines from "./machines";
import type { Api, Operation } from "./operation";

const tokenOf = (input: Input): string => input.string("taskToken", { max: 2048 });

function outputOf(input: Input): Json {
  const text = input.string("output", { min: 0 });
  try {
    const output = parseJson(text) as Json;
    if (byteLength(output) <= maxPayloadBytes) return output;
  } catch (error) {
    throw new ServiceError("InvalidOutput", `Invalid Output: '${(error as Error).message}'`, { cause: error });
  }
  throw new ServiceError("InvalidOutput", `Invalid Output: 'The output is longer than ${maxPayloadBytes} bytes'`);
}

const sendTaskSuccess: Operation = async (input, api) => {
  const output = outputOf(input);
  const token = tokenOf(input);
  await (await api.engine.byToken(token)).taskSucceeded(token, output);
  return {};
};

const sendTaskFailure: Operation = async (input, api) => {
  const error = input.optional("error", { min: 0, max: 256 });
  const cause = input.optional("cause", { min: 0, max: 32_768 });
  const token = tokenOf(input);
  await (await api.engine.byToken(token)).taskFailed(token, { error, cause });
  return {};
};

const sendTaskHeartbeat: Operation = async (input, api) => {
  const token = tokenOf(input);
  await (await api.engine.byToken(token)).heartbeat(token);
  return {};
};

export const operations: Readonly<Record<string, Operation>> = {
  CreateStateMachine: machines.createStateMachine,
  UpdateStateMachine: machines.updateStateMachine,
  DescribeStateMachine: machines.describeStateMachine,
  ListStateMachines: machines.listStateMachines,
  StartExecution: executions.startExecution,
  DescribeExecution: executions.describeExecution,
  StopExecution: executions.stopExecution,
  ListExecutions: executions.listExecutions,
  GetExecutionHistory: executions.getExecutionHistory,
  SendTaskSuccess: sendTaskSuccess,
  SendTaskFailure: sendTaskFailure,
  SendTaskHeartbeat: sendTaskHeartbeat,
};

const targetPrefix = "AWSStepFunctions.";
const maxBodyBytes = 8 * 1_048_576;

async function body(request: IncomingMessage): Promise<Json> {
  const text = (
    await readBody(request, maxBodyBytes).catch((error: unknown) => {
      if (error instanceof BodyTooLarge) throw new ServiceError("SerializationException", error.message);
      throw error;
    })
  ).toString();
  try {
    return text === "" ? {} : (parseJson(text) as Json);
  } catch (error) {
    if (error instanceof JsonLimitError) {
      throw new ServiceError("SerializationException", `The request's body ${error.rule}`, { cause: error });
    }
    throw new ServiceError("SerializationException", "The request's body is not JSON", { cause: error });
  }
}

function find(target: string | string[] | undefined): Operation {
  const name = typeof target === "string" && target.startsWith(targetPrefix) ? target.slice(targetPrefix.length) : "";
  const operation = Object.hasOwn(operations, name) ? operations[name] : undefined;
  if (operation) return operation;
  throw new ServiceError("UnknownOperationException", `The operation '${String(target)}' is not implemented`);
}

export async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  api: Api,
  caller?: Caller,
): Promise<void> {
  try {
    const fields = await body(request);
    if (!isObject(fields)) throw new ServiceError("SerializationException", "The request's body must be a JSON object");
    const operation = find(request.headers["x-amz-target"]);
    if (caller) authorize(caller, String(request.headers["x-amz-target"]).slice(targetPrefix.length), fields);
    reply(response, 200, await operation(new Input(fields), api));
  } catch (error) {
    const refusal = error instanceof ServiceError || error instanceof AccessDenied ? error : internal(error);
    const { code, message } = refusal;
    const httpStatus = refusal instanceof AccessDenied ? 400 : refusal.httpStatus;
    response.setHeader("x-amzn-ErrorType", code);
    reply(response, httpStatus, { __type: `com.amazonaws.states#${code}`, message });
  }
}

function authorize(caller: Caller, operation: string, fields: Readonly<Record<string, unknown>>): void {
  const machineOf = (token: string) => readToken(token).machine;
  for (const access of statesAccesses(operation, fields, machineOf)) caller.authorize(access);
}

function internal(error: unknown): ServiceError {
  console.error(
    JSON.stringify({ level: "error", service: "states", error: String(error), stack: (error as Error).stack }),
  );
  return new ServiceError("InternalFailure", "The request processing has failed because of an unknown error", {
    cause: error,
  });
}

function reply(response: ServerResponse, status: number, result: object): void {
  const text = JSON.stringify(result);
  response.writeHead(status, {
    "content-type": "application/x-amz-json-1.0",
    "content-length": Buffer.byteLength(text),
    "x-amzn-requestid": randomUUID(),
  });
  response.end(text);
}
