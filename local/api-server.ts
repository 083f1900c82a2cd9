import { isUtf8 } from "node:buffer";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from "aws-lambda";
import type { TokenStore } from "../adapters/files/token-store";
import { inertContent } from "../api/http/inert-content";
import { teamless } from "../api/http/tenancy";
import { mlflowErrorResponse } from "../api/mlflow/errors";
import { isMlflowPath } from "../api/mlflow/mount";
import { UnauthenticatedError } from "../core/access/errors";
import { RingmasterError } from "../core/errors";
import { type Authenticated, type AuthorizerContext, authenticate } from "./api-auth";
import type { StreamedRoutes } from "./api-streams";
import type { TransferRoutes } from "./api-transfers";
import { foreignCaller } from "./loopback";
import { sha256 } from "./sigv4/verify";
import { BodyTooLarge, readBody } from "./wire";

type ApiHandler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/** API Gateway's limit on a request's body. */
const maxBodyBytes = 10 * 1024 * 1024;

export interface ApiServerOptions {
  readonly streams?: StreamedRoutes;
  readonly transfers?: TransferRoutes;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

export const apiServerOptions = { keepAlive: true, keepAliveTimeout: 120_000 } as const;

/**
 * API Gateway on one machine, its authorizer included: turns a request into the proxy event that the `api` function gets on AWS. Only
 * loopback names are answered, so that no web page can reach the API by a name of its own that resolves here.
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
    response.writeHead(result.statusCode);
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

/** A browser that somebody opens a page with asks for name and password: the token is the password, as MLflow's clients have it. */
function challengeTo({ method, headers: { accept = "" } }: IncomingMessage): string {
  return method === "GET" && /\btext\/html\b/.test(accept)
    ? 'Basic realm="ringmaster (any name; a token as password)", charset="UTF-8"'
    : 'Bearer realm="ringmaster"';
}

/** In the shape that the caller's kind of client reads. */
function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  code: string,
  message: string,
): void {
  // The rest of the body is read and dropped: closing the connection before would lose the answer.
  request.resume();
  response.writeHead(status, { "content-type": "application/json" });
  if (isMlflowPath(request.url ?? "/")) {
    const error = new RingmasterError(message, { code, httpStatus: status });
    void mlflowErrorResponse(error, "")
      .text()
      .then((text) => response.end(text));
  } else response.end(JSON.stringify({ error: { code, message } }));
}

/** Dots that a URL's parser would follow, and what reads them percent-encoded, too. */
function climbs(url: string): boolean {
  return (url.split("?", 1)[0] ?? "").split("/").some((part) => /^(?:\.|%2e){1,2}$/i.test(part));
}

/** @throws UnauthenticatedError where the body does not match the signed SHA-256 */
function checkPayload(body: Buffer, caller: Authenticated | undefined): void {
  if (caller?.payload === undefined || caller.payload === sha256(body)) return;
  throw new UnauthenticatedError("the body does not match the signed SHA-256");
}

/** Whether it runs is no secret: `ringmaster status` asks without a token. */
function isOpen({ url }: IncomingMessage): boolean {
  return teamless.has(url ?? "");
}

/** @returns `undefined` where the body is too large: then all of it was read, so that the client can read the answer */
async function bodyWithin(request: IncomingMessage): Promise<Buffer | undefined> {
  try {
    return await readBody(request, maxBodyBytes);
  } catch (error) {
    if (error instanceof BodyTooLarge) return undefined;
    throw error;
  }
}

/** JSON goes on as text, as the gateway has it, and all else as base64. */
function bodyOf(body: Buffer, contentType = ""): Pick<APIGatewayProxyEvent, "body" | "isBase64Encoded"> {
  if (body.length === 0) return { body: null, isBase64Encoded: false };
  const isText = /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i.test(contentType) && isUtf8(body);
  return { body: body.toString(isText ? "utf8" : "base64"), isBase64Encoded: !isText };
}

/** All but the body. */
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
    // What the router reads of it; the rest has no meaning here.
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
