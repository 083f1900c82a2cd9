import type { IncomingMessage, ServerResponse } from "node:http";
import { isObject, JsonLimitError, parseJson } from "./json";
import { signedPayloadOf } from "./sigv4/payload";

export class ServiceError extends Error {
  override readonly name: string = "ServiceError";

  constructor(
    readonly code: string,
    readonly httpStatus: number,
    message: string,
    readonly fields: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
  }

  get retryable(): boolean {
    return this.httpStatus >= 500 || this.httpStatus === 429;
  }
}

export function validation(message: string): ServiceError {
  return new ServiceError("ValidationException", 400, message);
}

export class BodyTooLarge extends Error {
  constructor(readonly limit: number) {
    super(`The request body is larger than ${limit} bytes, the limit of this operation. Send a reference instead.`);
  }
}

/**
 * Reads the whole body of a request.
 * @throws BodyTooLarge past `limit` bytes, after it has read and dropped the rest
 */
export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  const { body } = signedPayloadOf(request);
  if (body) {
    if (body.length > limit) throw new BodyTooLarge(limit);
    return body;
  }
  const chunks: Buffer[] = [];
  let size = 0;
  if (request.readableEnded) return Buffer.alloc(0);
  if (request.destroyed) throw new Error("the client closed the connection within its request");
  // Listeners take a third of the time of an iterator.
  await new Promise<void>((resolve, reject) => {
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      // Reading on lets the client finish its write and read the answer. Otherwise it would see a reset connection.
      if (size <= limit) chunks.push(chunk);
    });
    request.once("end", resolve);
    request.once("error", reject);
    // Also emitted after the end. An error takes a stack trace, which costs more than the other steps.
    request.once("close", () => {
      if (!request.readableEnded) reject(new Error("the client closed the connection within its request"));
    });
  });
  if (size > limit) throw new BodyTooLarge(limit);
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size);
}

/**
 * Parses the body of a request as a JSON object. An empty body is an empty object. Throws the error that `invalid`
 * creates if the body is anything else.
 */
export function parseObject(body: Buffer, invalid: (message: string) => Error): Record<string, unknown> {
  if (body.length === 0) return {};
  let value: unknown;
  try {
    value = parseJson(body.toString("utf8"));
  } catch (error) {
    if (error instanceof JsonLimitError) throw invalid(`The request body ${error.rule}.`);
    throw invalid(`The request body is not JSON: ${(error as Error).message}`);
  }
  if (!isObject(value)) throw invalid("The request body must be a JSON object.");
  return value;
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  contentType = "application/json",
): void {
  const text = Buffer.from(JSON.stringify(body));
  response.writeHead(status, { "content-type": contentType, "content-length": text.length });
  response.end(text);
}

/**
 * Sends an error in a form that both JSON protocols understand. REST-JSON reads the name from the header, and JSON 1.x
 * reads it from `__type`.
 * @param messageMember the name of the message member in the service's model
 */
export function sendError(
  response: ServerResponse,
  error: ServiceError,
  messageMember: "message" | "Message" = "message",
  contentType = "application/json",
): void {
  response.setHeader("x-amzn-errortype", error.code);
  const body = { __type: error.code, [messageMember]: error.message, ...error.fields };
  sendJson(response, error.httpStatus, body, contentType);
}

export interface JsonProtocol {
  readonly maxBytes: number;
  readonly invalid: (message: string) => ServiceError;
  /** Creates the error for a body that is too large. The default is `invalid`. */
  readonly tooLarge?: (message: string) => ServiceError;
  readonly contentType?: string;
  /** The name of the message member in the service's model. */
  readonly messageMember?: "message" | "Message";
}

/** Reads a request's JSON body, and sends the result of `perform` or its `ServiceError`. */
export async function serveJson(
  request: IncomingMessage,
  response: ServerResponse,
  { maxBytes, invalid, tooLarge = invalid, contentType, messageMember }: JsonProtocol,
  perform: (body: Record<string, unknown>) => object | Promise<object>,
): Promise<void> {
  try {
    const body = parseObject(await readBody(request, maxBytes), invalid);
    sendJson(response, 200, await perform(body), contentType);
  } catch (error) {
    const refusal = error instanceof BodyTooLarge ? tooLarge(error.message) : error;
    if (!(refusal instanceof ServiceError)) throw error;
    sendError(response, refusal, messageMember, contentType);
  }
}

/**
 * Finds an operation by its name.
 * @throws ServiceError that lists the known operations
 */
export function operationNamed<T>(operations: Readonly<Record<string, T>>, name: string, service: string): T {
  const operation = Object.hasOwn(operations, name) ? operations[name] : undefined;
  if (operation !== undefined) return operation;
  const names = Object.keys(operations).join(", ");
  const message = `The embedded ${service} does not implement ${name}. It has: ${names}.`;
  throw new ServiceError("UnknownOperationException", 400, message);
}

/** Takes a page of a list. The token is the encoded position. A page has at most 100 items. */
export function takePage<T>(items: readonly T[], token: unknown, limit: unknown) {
  const start = Number(Buffer.from(String(token ?? ""), "base64url").toString() || 0);
  const end = start + Math.min(Number(limit ?? 100), 100);
  const next = end < items.length ? { NextToken: Buffer.from(String(end)).toString("base64url") } : {};
  return { page: items.slice(start, end), ...next };
}
