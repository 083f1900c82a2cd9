import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from "aws-lambda";
import type { TokenStore } from "../adapters/files/token-store";
import { RingmasterError } from "../core/errors";
import { teamless } from "../lambdas/api/tenancy";
import { type AuthorizerContext, authenticate } from "./api-auth";
import type { StreamedRoutes } from "./api-streams";
import { foreignCaller } from "./loopback";

type ApiHandler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/** API Gateway's limit on a request's body. */
const maxBodyBytes = 10 * 1024 * 1024;

/**
 * API Gateway on one machine, its authorizer included: turns a request into the proxy event that the `api` function gets on AWS. Only
 * loopback names are answered, so that no web page can reach the API by a name of its own that resolves here.
 */
export function createApiServer(handler: ApiHandler, tokens: TokenStore, streams?: StreamedRoutes): Server {
  return createServer({ keepAlive: true, keepAliveTimeout: 120_000 }, (request, response) => {
    void answer(handler, tokens, streams, request, response);
  });
}

async function answer(
  handler: ApiHandler,
  tokens: TokenStore,
  streams: StreamedRoutes | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const foreign = foreignCaller(request.headers);
  if (foreign !== undefined) {
    send(response, 403, {
      code: "FORBIDDEN_HOST",
      message: `this API answers to 127.0.0.1 and localhost, not to ${foreign}`,
    });
    return;
  }
  try {
    const authorizer = isOpen(request) ? undefined : await authenticate(tokens, request.headers);
    const body = await readBody(request);
    if (body === undefined) {
      send(response, 413, { code: "BODY_TOO_LARGE", message: `the request body is larger than ${maxBodyBytes} bytes` });
      return;
    }
    const event = eventOf(request, body, authorizer);
    if (event === undefined) {
      send(response, 400, { code: "BAD_REQUEST", message: `${request.url} is not a path that can be read` });
      return;
    }
    if (streams?.take(event)) {
      await streams.answer(event, response);
      return;
    }
    const result = await handler(event, {} as Context);
    for (const [name, value] of Object.entries(result.headers ?? {})) response.setHeader(name, String(value));
    for (const [name, values] of Object.entries(result.multiValueHeaders ?? {}))
      response.setHeader(name, values.map(String));
    response.writeHead(result.statusCode);
    response.end(result.isBase64Encoded ? Buffer.from(result.body, "base64") : result.body);
  } catch (error) {
    if (error instanceof RingmasterError && !response.headersSent) {
      if (error.httpStatus === 401) response.setHeader("www-authenticate", 'Bearer realm="ringmaster"');
      send(response, error.httpStatus, error);
      return;
    }
    process.stderr.write(
      `${JSON.stringify({ level: "error", message: "the API function failed", error: String(error) })}\n`,
    );
    if (response.headersSent) response.destroy();
    else send(response, 502, { code: "BAD_GATEWAY", message: "the API function failed; the stack's log says why" });
  }
}

function send(
  response: ServerResponse,
  status: number,
  { code, message }: { readonly code: string; readonly message: string },
): void {
  response.writeHead(status, { "content-type": "application/json", connection: "close" });
  response.end(JSON.stringify({ error: { code, message } }));
}

/** Whether it runs is no secret: `ringmaster status` asks without a token. */
function isOpen({ url }: IncomingMessage): boolean {
  return teamless.has(url ?? "");
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function eventOf(
  request: IncomingMessage,
  body: Buffer,
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
    body: body.length === 0 ? null : body.toString("base64"),
    isBase64Encoded: true,
  };
}
