import { isUtf8 } from "node:buffer";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from "aws-lambda";
import type { TokenStore } from "../adapters/files/token-store";
import { inertContent } from "../api/http/page-response";
import { isOpenPath } from "../api/http/tenancy";
import { mlflowErrorResponse } from "../api/mlflow/errors";
import { isMlflowPath } from "../api/mlflow/mount";
import { UnauthenticatedError } from "../core/access/errors";
import { sha256 } from "../core/digest";
import { RingmasterError } from "../core/errors";
import { BodyTooLarge, foreignCaller, readBody } from "../local";
import { type Authenticated, type AuthorizerContext, authenticate } from "./api-auth";
import type { StreamedRoutes } from "./api-streams";
import type { TransferRoutes } from "./api-transfers";

type ApiHandler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

const maxBodyBytes = 10 * 1024 * 1024;

export interface ApiServerOptions {
  readonly streams?: StreamedRoutes;
  readonly transfers?: TransferRoutes;
  /** The current time in milliseconds since the epoch. */
  readonly now?: () => number;
}

export const apiServerOptions = { keepAlive: true, keepAliveTimeout: 120_000 } as const;

/**
 * Creates a local API Gateway with its authorizer. It turns each request into the proxy event that the `api` function
 * gets on AWS. It answers only loopback host names. A web page therefore cannot reach the API by a host name that
 * resolves to this machine.
 */
export function createApiServer(handler: ApiHandler, tokens: TokenStore, options: ApiServerOptions = {}): Server {
  return createServer(apiServerOptions, (request, response) => {
    void answer(handler, tokens, options, request, response);
  });
}

async function answer(
  handler: ApiHandler,
  tokens: TokenStore,
  { streams, transfers, now = Date.now }: ApiServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  for (const [name, value] of Object.entries(inertContent)) response.setHeader(name, value);
  const foreign = foreignCaller(request, "pages");
  if (foreign !== undefined) {
    refuse(
      request,
      response,
      403,
      "FORBIDDEN_HOST",
      `this API accepts requests to 127.0.0.1 or localhost, not ${foreign}`,
    );
    return;
  }
  const { method = "GET", url = "/", headers } = request;
  let read: Promise<Buffer | undefined> | undefined;
  const body = (): Promise<Buffer | undefined> => {
    read ??= bodyWithin(request);
    return read;
  };
  try {
    if (climbs(url)) {
      refuse(request, response, 400, "INVALID_INPUT", `${url} must not have . or .. segments`);
      return;
    }
    const transfer = transfers?.take(method, url) ?? false;
    const caller = isOpen(request)
      ? undefined
      : await authenticate(tokens, { method, url, headers }, transfer ? async () => undefined : body, now());
    const event = eventOf(request, caller?.context);
    if (event === undefined) {
      refuse(request, response, 400, "BAD_REQUEST", `${url} is not a valid URL path`);
      return;
    }
    if (transfer) {
      await transfers?.answer(request, event, response);
      return;
    }
    const whole = await body();
    if (whole === undefined) {
      refuse(request, response, 413, "BODY_TOO_LARGE", `the request body is larger than ${maxBodyBytes} bytes`);
      return;
    }
    checkPayload(whole, caller);
    const complete = { ...event, ...bodyOf(whole, headers["content-type"]) };
    if (streams?.take(complete)) {
      await streams.answer(complete, response);
      return;
    }
    const result = await handler(complete, {} as Context);
    for (const [name, value] of Object.entries(result.headers ?? {})) response.setHeader(name, String(value));
    for (const [name, values] of Object.entries(result.multiValueHeaders ?? {}))
      response.setHeader(name, values.map(String));
    // Unlike after `writeHead`, the answer has its length instead of chunks.
    response.statusCode = result.statusCode;
    response.end(result.isBase64Encoded ? Buffer.from(result.body, "base64") : result.body);
  } catch (error) {
    if (error instanceof RingmasterError && !response.headersSent) {
      if (error.httpStatus === 401) response.setHeader("www-authenticate", challengeTo(request));
      refuse(request, response, error.httpStatus, error.code, error.message);
      return;
    }
    process.stderr.write(
      `${JSON.stringify({ level: "error", message: "the API function failed", error: String(error) })}\n`,
    );
    if (response.headersSent) response.destroy();
    else refuse(request, response, 502, "BAD_GATEWAY", "the API function failed; see the stack's log");
  }
}

/**
 * Returns the challenge that makes a browser ask for a name and a password. The token is the password, as in MLflow's
 * clients.
 */
function challengeTo({ method, headers: { accept = "" } }: IncomingMessage): string {
  return method === "GET" && /\btext\/html\b/.test(accept)
    ? 'Basic realm="ringmaster (any name; a token as password)", charset="UTF-8"'
    : 'Bearer realm="ringmaster"';
}

function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  code: string,
  message: string,
): void {
  // Reads and drops the rest of the body. If the connection were closed earlier, the client would lose the answer.
  request.resume();
  response.writeHead(status, { "content-type": "application/json" });
  if (isMlflowPath(request.url ?? "/")) {
    const error = new RingmasterError(message, { code, httpStatus: status });
    void mlflowErrorResponse(error, "")
      .text()
      .then((text) => response.end(text));
  } else response.end(JSON.stringify({ error: { code, message } }));
}

/** Returns whether the path has dot segments, plain or percent-encoded, that a URL parser would resolve. */
function climbs(url: string): boolean {
  return (url.split("?", 1)[0] ?? "").split("/").some((part) => /^(?:\.|%2e){1,2}$/i.test(part));
}

/**
 * Checks the body against the signature.
 * @throws UnauthenticatedError if the body does not match the signed SHA-256
 */
function checkPayload(body: Buffer, caller: Authenticated | undefined): void {
  if (caller?.payload === undefined || caller.payload === sha256(body)) return;
  throw new UnauthenticatedError("the body does not match the signed SHA-256");
}

/** Returns whether a route needs no token. `ringmaster status` asks for the API's health without one. */
function isOpen({ url }: IncomingMessage): boolean {
  return isOpenPath(url?.split("?", 1)[0] ?? "");
}

/**
 * Reads the body.
 * @returns `undefined` if the body is too large. It is then read to the end, so that the client can read the answer.
 */
async function bodyWithin(request: IncomingMessage): Promise<Buffer | undefined> {
  try {
    return await readBody(request, maxBodyBytes);
  } catch (error) {
    if (error instanceof BodyTooLarge) return undefined;
    throw error;
  }
}

/** Encodes a body as API Gateway does: JSON as text, everything else as base64. */
function bodyOf(body: Buffer, contentType = ""): Pick<APIGatewayProxyEvent, "body" | "isBase64Encoded"> {
  if (body.length === 0) return { body: null, isBase64Encoded: false };
  const isText = /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i.test(contentType) && isUtf8(body);
  return { body: body.toString(isText ? "utf8" : "base64"), isBase64Encoded: !isText };
}

/** Builds the proxy event without its body. */
function eventOf(
  request: IncomingMessage,
  authorizer: AuthorizerContext | undefined,
): APIGatewayProxyEvent | undefined {
  const base = `http://${request.headers.host}`;
  if (!URL.canParse(request.url ?? "/", base)) return undefined;
  const url = new URL(request.url ?? "/", base);
  const multiValueHeaders: Record<string, string[]> = {};
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined) continue;
    multiValueHeaders[name] = Array.isArray(value) ? value : [value];
    headers[name] = multiValueHeaders[name].join(",");
  }
  const multiValueQueryStringParameters: Record<string, string[]> = {};
  for (const name of new Set(url.searchParams.keys())) {
    multiValueQueryStringParameters[name] = url.searchParams.getAll(name);
  }
  return {
    resource: "/{proxy+}",
    path: url.pathname,
    httpMethod: request.method ?? "GET",
    headers,
    multiValueHeaders,
    queryStringParameters: Object.fromEntries(url.searchParams),
    multiValueQueryStringParameters,
    pathParameters: null,
    stageVariables: null,
    // Only the fields that the router reads.
    requestContext: {
      domainName: url.host,
      path: url.pathname,
      stage: "local",
      ...(authorizer ? { authorizer } : {}),
    } as APIGatewayProxyEvent["requestContext"],
    body: null,
    isBase64Encoded: false,
  };
}
