import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Iam } from "./iam";
import { authenticate } from "./iam/authenticate";
import { SignatureError } from "./iam/signature-error";
import { foreignCaller } from "./loopback";
import { sendQueryError } from "./query-protocol";
import type { Service } from "./service";
import { ServiceError, sendError, sendJson } from "./wire";

/**
 * The service of each prefix of `X-Amz-Target`. An unsigned request is refused in the protocol of the service that it
 * names.
 */
const targetPrefixes: Readonly<Record<string, string>> = {
  DynamoDB_20120810: "dynamodb",
  AWSStepFunctions: "states",
  AWSEvents: "events",
  Logs_20140328: "logs",
};

/** Stored content never runs as a script of the endpoint's origin, whatever its type. */
const inertContent = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
  "x-content-type-options": "nosniff",
};
const maxHeaderBytes = 64 * 1024;
/** Longer than any SDK keeps an idle connection. The client closes first, so no request meets a closing socket. */
const keepAliveMs = 120_000;

/**
 * Creates the endpoint of the embedded cloud. The endpoint is an HTTP server that is not listening yet. It verifies the
 * signature of each request and passes the request to the service that the signature names. If the services are a
 * promise, requests wait for them.
 *
 * @param iam knows the keys and finds the caller, who authorizes each operation for the services
 * @param endpoints handlers of paths under `/_ringmaster/` that are not AWS services; only the owner may call them
 */
export function createFront(
  services: readonly Service[] | Promise<readonly Service[]>,
  iam: Iam,
  endpoints: Readonly<Record<string, Endpoint>> = {},
): Server {
  let byName: ReadonlyMap<string, Service> | undefined;
  const ready = Promise.resolve(services).then((all) => {
    byName = new Map(all.map((service) => [service.signingName, service]));
    return byName;
  });
  // The caller that created the promise handles a service that cannot start.
  ready.catch(() => undefined);
  const options = { keepAlive: true, keepAliveTimeout: keepAliveMs, maxHeaderSize: maxHeaderBytes, requestTimeout: 0 };
  const server = createServer(options, (request, response) => {
    const path = request.url?.split("?")[0] ?? "";
    if (Object.hasOwn(endpoints, path)) void answer(undefined, request, response, ownersOnly(endpoints[path]!, iam));
    else if (path === "/_ringmaster/health")
      void answer(undefined, request, response, async () => sendHealth(byName, response));
    else void answer(serviceName(request), request, response, serve(ready, iam));
  });
  server.headersTimeout = keepAliveMs + 1_000;
  return server;
}

export type Endpoint = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * Refuses requests from foreign hosts and pages, and turns errors into answers.
 * @param name the service, if the request names one
 */
async function answer(
  name: string | undefined,
  request: IncomingMessage,
  response: ServerResponse,
  handle: Endpoint,
): Promise<void> {
  const requestId = randomUUID();
  response.setHeader("x-amzn-requestid", requestId);
  for (const [name, value] of Object.entries(inertContent)) response.setHeader(name, value);
  // A client that disconnects does not concern the stack.
  response.on("error", () => undefined);
  try {
    const foreign = foreignCaller(request, "services");
    if (foreign !== undefined) throw forbidden(foreign);
    await handle(request, response);
  } catch (error) {
    refuse(name, requestId, error, request, response);
  }
}

function ownersOnly(endpoint: Endpoint, iam: Iam): Endpoint {
  return async (request, response) => {
    const caller = await authenticate(iam, request);
    if (caller) {
      const message = `User: ${caller.arn} is not authorized: only the owner may call this path (\`ringmaster env\` prints the owner's keys).`;
      throw new ServiceError("AccessDeniedException", 403, message);
    }
    await endpoint(request, response);
  };
}

function serve(made: Promise<ReadonlyMap<string, Service>>, iam: Iam): Endpoint {
  return async (request, response) => {
    const caller = await authenticate(iam, request);
    const services = await made;
    const name = serviceName(request);
    const service = name === undefined ? undefined : services.get(name);
    if (!service) throw unknownService(name, [...services.keys()]);
    await service.handle(request, response, caller);
  };
}

/** Sends the health of the stack at once, also before the services exist: 503 means that they are starting. */
function sendHealth(services: ReadonlyMap<string, Service> | undefined, response: ServerResponse): void {
  if (services) sendJson(response, 200, { status: "ok", services: [...services.keys()] });
  else sendJson(response, 503, { status: "starting" });
}

/**
 * Returns the name of the service that a request is for. The name comes from the signature's scope, from the target, or
 * from the form of a presigned URL.
 */
export function serviceName(request: Pick<IncomingMessage, "headers" | "url">): string | undefined {
  const query = new URLSearchParams(request.url?.split("?")[1] ?? "");
  const credential =
    /Credential=([^,\s]+)/.exec(request.headers.authorization ?? "")?.[1] ?? query.get("X-Amz-Credential") ?? undefined;
  // <access key>/<date>/<region>/<service>/aws4_request. A SigV4a scope has no region, so the index counts from the
  // end.
  const scope = credential?.split("/");
  if (scope && scope.length >= 4 && scope.at(-1) === "aws4_request") return scope.at(-2);
  const target = request.headers["x-amz-target"];
  if (typeof target === "string") return targetPrefixes[target.split(".")[0] ?? ""] ?? target.split(".")[0];
  if (query.has("X-Amz-Signature")) return "s3";
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
    // Part of an answer must not look complete.
    response.destroy();
    return;
  }
  const refusal =
    error instanceof ServiceError
      ? error
      : new ServiceError("InternalFailure", 500, `The embedded ${name} service met an unexpected error: ${error}`);
  if (name === "s3") sendXml(response, refusal, requestId);
  else if (name === "sts" || name === "sns" || name === "iam") sendQueryError(response, refusal);
  else sendError(response, refusal);
  request.resume();
}

function sendXml(response: ServerResponse, error: ServiceError, requestId: string): void {
  const code =
    error instanceof SignatureError
      ? error.codeIn("s3")
      : error.code === "InternalFailure"
        ? "InternalError"
        : error.code;
  const message = error.message.replace(/[<>&]/g, (c) => ({ "<": "&lt;", ">": "&gt;" })[c] ?? "&amp;");
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message><RequestId>${requestId}</RequestId></Error>`;
  response.writeHead(error.httpStatus, {
    "content-type": "application/xml",
    "content-length": Buffer.byteLength(body),
  });
  response.end(body);
}
