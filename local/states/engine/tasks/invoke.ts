import { randomUUID } from "node:crypto";
import { region } from "../../../account";
import type { FunctionInvoker } from "../../../service";
import { byteLength, isObject, type Json, type JsonObject, maxPayloadBytes } from "../../json";
import { resources } from "../../schema";
import type { FailureDetails, ScheduledTask } from "../../store/log-record";

type Functions = Pick<FunctionInvoker, "invoke">;

export type Outcome = { readonly output: Json } | FailureDetails;

/** Converts a value to JSON as a handler's answer is: `undefined` becomes `null`, and its members are omitted. */
const toJson = (value: unknown): Json => (value === undefined ? null : (JSON.parse(JSON.stringify(value)) as Json));

/** The error names of Lambda's API that Step Functions reports as `Lambda.…`. */
const known =
  /^(TooManyRequests|ResourceNotFound|InvalidRequestContent|RequestTooLarge|EC2\w*|ENI\w*|KMS\w*)Exception$/;

function refusal(error: unknown, name: string): FailureDetails {
  const {
    name: type = "",
    code,
    message = String(error),
  } = error as { name?: string; code?: string; message?: string };
  const named = [code, type].find((each) => each !== undefined && known.test(each)) ?? "ServiceException";
  return { error: `Lambda.${named}`, cause: `${message} (Service: AWSLambda; Function: ${name}; Region: ${region})` };
}

function handlerFailure(payload: Json): FailureDetails {
  const type = isObject(payload) ? payload["errorType"] : undefined;
  return { error: typeof type === "string" && type ? type : "Lambda.Unknown", cause: JSON.stringify(payload) };
}

function functionName(reference: string): string {
  const bare = reference.includes("function:") ? reference.slice(reference.indexOf("function:") + 9) : reference;
  return bare.split(":")[0] ?? bare;
}

function response(payload: Json): JsonObject {
  const requestId = randomUUID();
  return {
    ExecutedVersion: "$LATEST",
    Payload: payload,
    SdkHttpMetadata: { HttpHeaders: { "x-amzn-RequestId": requestId }, HttpStatusCode: 200 },
    SdkResponseMetadata: { RequestId: requestId },
    StatusCode: 200,
  };
}

async function invokeFunction(parameters: Json, functions: Functions, signal: AbortSignal): Promise<Outcome> {
  const {
    FunctionName: reference,
    Payload: payload = {},
    InvocationType: type = "RequestResponse",
  } = isObject(parameters) ? parameters : {};
  if (typeof reference !== "string") {
    return { error: "States.Runtime", cause: "The field 'FunctionName' is required and must be a string" };
  }
  if (type !== "RequestResponse") {
    return { error: "States.Runtime", cause: `The InvocationType '${String(type)}' is not implemented` };
  }
  const name = functionName(reference);
  try {
    const result = await functions.invoke(name, payload, signal);
    const output = toJson(result.payload);
    return result.functionError === undefined ? { output: response(output) } : handlerFailure(output);
  } catch (error) {
    return refusal(error, name);
  }
}

/** Calls the function of a task. Never rejects: every error becomes a failure that Retry and Catch may handle. */
export async function invoke(task: ScheduledTask, functions: Functions, signal: AbortSignal): Promise<Outcome> {
  if (!resources.includes(task.resource)) {
    return { error: "States.Runtime", cause: `The resource '${task.resource}' is not implemented` };
  }
  const outcome = await invokeFunction(task.parameters, functions, signal);
  if (!("output" in outcome) || byteLength(outcome.output) <= maxPayloadBytes) return outcome;
  return {
    error: "States.DataLimitExceeded",
    cause: "The state/task 'lambda' returned a result with a size exceeding the maximum number of bytes service limit.",
  };
}
