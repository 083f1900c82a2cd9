import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Iam } from "./iam";
import { foreignCaller } from "./loopback";
import type { Service } from "./service";
import { ServiceError, sendError, sendJson } from "./wire";

/** Prefixes of `X-Amz-Target`, for callers that do not sign. */
const targetPrefixes: Readonly<Record<string, string>> = {
  DynamoDB_20120810: "dynamodb",
  AWSStepFunctions: "states",
  AWSEvents: "events",
  Logs_20140328: "logs",
};

const maxHeaderBytes = 64 * 1024;
/** Longer than any SDK keeps an idle connection: the client closes first, so that no request meets a closing socket. */
const keepAliveMs = 120_000;

/**
 * The one door of the embedded cloud: an HTTP server, not yet listening, that hands each request to the service named by
 * its signature. Services that are still being made may be promised: requests wait for them. The caller says where it listens
 * (127.0.0.1: nothing here checks a signature).
 *
 * @param iam says who signed; services ask the caller that it finds whether an operation is allowed. Without it everybody may do everything.
 * @param doors paths under `/_ringmaster/` that are no service of AWS's, for programs on this machine.
 */
export function createFront(
  services: readonly Service[] | Promise<readonly Service[]>,
  iam?: Iam,
  doors: Readonly<Record<string, Door>> = {},
): Server {
  let byName: ReadonlyMap<string, Service> | undefined;
  const made = Promise.resolve(services).then((all) => {
    byName = new Map(all.map((service) => [service.signingName, service]));
    return byName;
  });
  // Whoever made them hears of a service that cannot start.
  made.catch(() => undefined);
  const options = { keepAlive: true, keepAliveTimeout: keepAliveMs, maxHeaderSize: maxHeaderBytes, requestTimeout: 0 };
  const server = createServer(options, (request, response) => {
    const path = request.url?.split("?")[0] ?? "";
    if (path === "/_ringmaster/health") sendHealth(byName, response);
    else if (Object.hasOwn(doors, path)) void enter(doors[path]!, request, response);
    else void serve(made, iam, request, response);
  });
  server.headersTimeout = keepAliveMs + 1_000;
  return server;
}

export type Door = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

async function enter(door: Door, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const requestId = randomUUID();
  response.on("error", () => undefined);
  try {
    const foreign = foreignCaller(request.headers);
    if (foreign !== undefined) throw forbidden(foreign);
    await door(request, response);
  } catch (error) {
    refuse(undefined, requestId, error, request, response);
  }
}

/** Answers at once, services or none: 503 says that they are still being made. */
function sendHealth(services: ReadonlyMap<string, Service> | undefined, response: ServerResponse): void {
  if (services) sendJson(response, 200, { status: "ok", services: [...services.keys()] });
  else sendJson(response, 503, { status: "starting" });
}

async function serve(
  made: Promise<ReadonlyMap<string, Service>>,
  iam: Iam | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const requestId = randomUUID();
  response.setHeader("x-amzn-requestid", requestId);
  // A client that hangs up is no event for the stack.
  response.on("error", () => undefined);
  const name = serviceName(request);
  try {
    const foreign = foreignCaller(request.headers);
    if (foreign !== undefined) throw forbidden(foreign);
    const services = await made;
    const service = name === undefined ? undefined : services.get(name);
    if (!service) throw unknownService(name, [...services.keys()]);
    const caller = iam?.callerOf(request);
    await service.handle(request, response, caller);
  } catch (error) {
    refuse(name, requestId, error, request, response);
  }
}

/** The service that a request is meant for, as its signature's scope says, else its target, else its presigned shape. */
export function serviceName(request: Pick<IncomingMessage, "headers" | "url">): string | undefined {
  const query = new URLSearchParams(request.url?.split("?")[1] ?? "");
  const credential =
    /Credential=([^,\s]+)/.exec(request.headers.authorization ?? "")?.[1] ?? query.get("X-Amz-Credential") ?? undefined;
  // <access key>/<date>/<region>/<service>/aws4_request; a SigV4a scope has no region. Counting from the end fits both.
  const scope = credential?.split("/");
  if (scope && scope.length >= 4 && scope.at(-1) === "aws4_request") return scope.at(-2);
  const target = request.headers["x-amz-target"];
  if (typeof target === "string") return targetPrefixes[target.split(".")[0] ?? ""] ?? target.split(".")[0];
  if (query.has("X-Amz-Signature") || (query.has("AWSAccessKeyId") && query.has("Signature"))) return "s3";
  return undefined;
}

function forbidden(caller: string): ServiceError {
  return new ServiceError(
    "AccessDeniedException",
    403,
    `The embedded cloud accepts requests to 127.0.0.1 or localhost, not ${caller}.`,
  );
}

function unknownService(name: string | undefined, known: readonly string[]): ServiceError {
  if (name === undefined) {
    return new ServiceError(
      "MissingAuthenticationToken",
      403,
      "The request names no service: it has no signature, no X-Amz-Target and no presigned query. Sign it, with any credentials, as the AWS SDKs and CLI do.",
    );
  }
  return new ServiceError(
    "UnknownServiceException",
    400,
    `The embedded cloud does not serve '${name}'. It serves: ${known.join(", ")}.`,
  );
}

function refuse(
  name: string | undefined,
  requestId: string,
  error: unknown,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const aborted = request.destroyed && !request.complete;
  if (!(error instanceof ServiceError) && !aborted) {
    const trace = error instanceof Error ? error.stack : String(error);
    process.stderr.write(
      `${JSON.stringify({ level: "error", message: "unexpected exception", service: name, requestId, trace })}\n`,
    );
  }
  if (response.headersSent || aborted) {
    // Half an answer must not look whole.
    response.destroy();
    return;
  }
  const refusal =
    error instanceof ServiceError
      ? error
      : new ServiceError("InternalFailure", 500, `The embedded ${name} service met an unexpected error: ${error}`);
  if (name === "s3") sendXml(response, refusal, requestId);
  else sendError(response, refusal);
  request.resume();
}

/** S3 has its own names for what the other services agree on. */
const s3Codes: Readonly<Record<string, string>> = {
  InternalFailure: "InternalError",
  ExpiredTokenException: "ExpiredToken",
  UnrecognizedClientException: "InvalidAccessKeyId",
};

function sendXml(response: ServerResponse, error: ServiceError, requestId: string): void {
  const code = s3Codes[error.code] ?? error.code;
  const message = error.message.replace(/[<>&]/g, (c) => ({ "<": "&lt;", ">": "&gt;" })[c] ?? "&amp;");
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message><RequestId>${requestId}</RequestId></Error>`;
  response.writeHead(error.httpStatus, {
    "content-type": "application/xml",
    "content-length": Buffer.byteLength(body),
  });
  response.end(body);
}
