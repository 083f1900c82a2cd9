import type { IncomingMessage, ServerResponse } from "node:http";
import { JsonLimitError, parseJson } from "../json";
import { BodyTooLarge, readBody } from "../wire";
import { functionNotFound, invalidContent, invalidParameter, requestTooLarge } from "./errors";
import { asyncPayloadLimit, type InvocationOutcome, syncPayloadLimit } from "./types";

export interface LambdaBackend {
  readonly functions: ReadonlyMap<string, unknown>;
  invokeText(name: string, payload: string): Promise<InvocationOutcome>;
  enqueue(name: string, payload: string): Promise<void>;
}

/**
 * Returns a function's name from a name, a partial ARN or an ARN. The qualifier is dropped, because the only version is
 * `$LATEST`.
 */
export function plainName(reference: string): string {
  const match = /^(?:arn:aws[\w-]*:lambda:[\w-]*:\d*:|\d+:)?(?:function:)?([\w-]+)(?::[\w$-]+)?$/.exec(reference);
  if (!match) throw invalidParameter(`'${reference}' is neither a function's name nor its ARN.`);
  return match[1]!;
}

export async function handleLambda(
  backend: LambdaBackend,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? "/", "http://lambda");
  const [version, root, reference, leaf, ...rest] = url.pathname
    .slice(1)
    .replace(/\/$/, "")
    .split("/")
    .map(decodeURIComponent);
  const method = request.method ?? "GET";
  if (version === "2015-03-31" && root === "functions" && rest.length === 0) {
    if (method === "POST" && reference && leaf === "invocations") {
      return invoke(backend, plainName(reference), request, response);
    }
  }
  throw invalidParameter(
    `The embedded Lambda does not implement ${method} ${url.pathname}. Its functions are fixed when the stack starts; it serves Invoke.`,
  );
}

async function invoke(
  backend: LambdaBackend,
  name: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const type = request.headers["x-amz-invocation-type"] ?? "RequestResponse";
  if (!backend.functions.has(name)) throw functionNotFound(name);
  const payload = await readPayload(request, type === "Event" ? asyncPayloadLimit : syncPayloadLimit);
  if (type === "Event") {
    await backend.enqueue(name, payload);
    response.writeHead(202, { "content-length": 0 }).end();
  } else if (type === "RequestResponse") {
    const outcome = await backend.invokeText(name, payload);
    response.setHeader("x-amz-executed-version", "$LATEST");
    if (outcome.functionError) response.setHeader("x-amz-function-error", outcome.functionError);
    if (request.headers["x-amz-log-type"] === "Tail") {
      response.setHeader("x-amz-log-result", Buffer.from(outcome.logTail).toString("base64"));
    }
    response.writeHead(200, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(outcome.payload),
    });
    response.end(outcome.payload);
  } else {
    throw invalidParameter(`InvocationType '${type}' is not one of RequestResponse, Event.`);
  }
}

async function readPayload(request: IncomingMessage, limit: number): Promise<string> {
  try {
    const text = (await readBody(request, limit)).toString("utf8") || "{}";
    parseJson(text);
    return text;
  } catch (error) {
    if (error instanceof JsonLimitError) throw invalidContent(`The request body ${error.rule}`);
    if (error instanceof BodyTooLarge) throw requestTooLarge(limit);
    if (error instanceof SyntaxError) {
      throw invalidContent(`Could not parse request body into json: ${error.message}`);
    }
    throw error;
  }
}
