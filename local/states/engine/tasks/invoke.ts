import { randomUUID } from "node:crypto";
import { region } from "../../../account";
import type { EventSink, FunctionInvoker } from "../../../service";
import { byteLength, isArray, isObject, type Json, type JsonObject, maxPayloadBytes } from "../../json";
import { functionName, parseResource } from "../../resource";
import type { FailureDetails, ScheduledTask } from "../../store/log-record";

/** The services that tasks may call. */
export interface Integrations {
  readonly functions: FunctionInvoker;
  readonly events: EventSink;
}

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

/** Converts the failure of a handler. Its errorType is the error, and the whole error object, as text, is the cause. */
function handlerFailure(payload: Json): FailureDetails {
  const type = isObject(payload) ? payload["errorType"] : undefined;
  return { error: typeof type === "string" && type ? type : "Lambda.Unknown", cause: JSON.stringify(payload) };
}

async function call(functions: FunctionInvoker, name: string, payload: Json, signal: AbortSignal): Promise<Outcome> {
  try {
    const result = await functions.invoke(name, payload, signal);
    const output = toJson(result.payload);
    return result.functionError === undefined ? { output } : handlerFailure(output);
  } catch (error) {
    return refusal(error, name);
  }
}

const response = (statusCode: number, payload: Json): JsonObject => {
  const requestId = randomUUID();
  return {
    ExecutedVersion: "$LATEST",
    Payload: payload,
    SdkHttpMetadata: { HttpHeaders: { "x-amzn-RequestId": requestId }, HttpStatusCode: statusCode },
    SdkResponseMetadata: { RequestId: requestId },
    StatusCode: statusCode,
  };
};

async function invokeFunction(parameters: Json, { functions }: Integrations, signal: AbortSignal): Promise<Outcome> {
  const {
    FunctionName: reference,
    Payload: payload = {},
    InvocationType: type,
  } = isObject(parameters) ? parameters : {};
  if (typeof reference !== "string") {
    return { error: "States.Runtime", cause: "The field 'FunctionName' is required and must be a string" };
  }
  const name = functionName(reference);
  if (type === "Event") {
    try {
      await functions.invokeAsync(name, payload);
      return { output: response(202, "") };
    } catch (error) {
      return refusal(error, name);
    }
  }
  const outcome = await call(functions, name, payload, signal);
  return "output" in outcome ? { output: response(200, outcome.output) } : outcome;
}

function putEvents(parameters: Json, { events }: Integrations, origin: readonly string[]): Outcome {
  const entries = isObject(parameters) && isArray(parameters["Entries"]) ? parameters["Entries"] : [];
  const invalid = entries.findIndex(
    (entry) => !isObject(entry) || !isString(entry["Source"]) || !isString(entry["DetailType"]),
  );
  if (entries.length === 0 || invalid >= 0) {
    return {
      error: "EventBridge.ValidationException",
      cause: `Entries[${Math.max(invalid, 0)}] needs Source and DetailType`,
    };
  }
  for (const entry of entries as readonly JsonObject[]) {
    const { Source: source, DetailType: detailType, Detail: detail = {}, Resources: resources = [] } = entry;
    events.put({
      source: source as string,
      detailType: detailType as string,
      resources: [...(isArray(resources) ? resources.filter(isString) : []), ...origin],
      detail: isString(detail) ? (JSON.parse(detail) as unknown) : detail,
    });
  }
  return { output: { Entries: entries.map(() => ({ EventId: randomUUID() })), FailedEntryCount: 0 } };
}

const isString = (value: Json | undefined): value is string => typeof value === "string";

/**
 * Calls the service of a task. Never rejects: every error becomes a failure that Retry and Catch may handle.
 * @param origin ARNs of the execution and its state machine, which AWS adds to events that it puts
 */
export async function invoke(
  task: ScheduledTask,
  integrations: Integrations,
  origin: readonly string[],
  signal: AbortSignal,
): Promise<Outcome> {
  const resource = parseResource(task.resource);
  if (!resource) return { error: "States.Runtime", cause: `The resource '${task.resource}' is not implemented` };
  const outcome = await dispatch(resource, task.parameters, integrations, origin, signal);
  if (!("output" in outcome) || byteLength(outcome.output) <= maxPayloadBytes) return outcome;
  const who = resource.kind === "function" ? task.resource : resource.service;
  return {
    error: "States.DataLimitExceeded",
    cause: `The state/task '${who}' returned a result with a size exceeding the maximum number of bytes service limit.`,
  };
}

async function dispatch(
  resource: NonNullable<ReturnType<typeof parseResource>>,
  parameters: Json,
  integrations: Integrations,
  origin: readonly string[],
  signal: AbortSignal,
): Promise<Outcome> {
  if (resource.kind === "function") return call(integrations.functions, resource.name, parameters, signal);
  if (resource.service === "lambda") return invokeFunction(parameters, integrations, signal);
  try {
    return putEvents(parameters, integrations, origin);
  } catch (error) {
    return { error: "EventBridge.InternalException", cause: (error as Error).message };
  }
}
