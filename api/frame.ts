import { createHash, type Hash, randomUUID } from "node:crypto";
import { type Context, Hono, type MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { cors } from "hono/cors";
import type { Deployment, Platform } from "../adapters/platform";
import type { Scope } from "../adapters/port";
import { InvalidInputError, RingmasterError } from "../core/errors";
import type { ApiEnvironment } from "./http/context";
import { errorResponse, knownError } from "./http/error-response";
import { inertContent, isLookedAt, problemPage } from "./http/page-response";
import { checkedRefusal } from "./http/response-check";
import { mountRoutes, type Route } from "./http/route";
import { type CallerSettings, tenancy } from "./http/tenancy";
import { mlflowErrorResponse } from "./mlflow/errors";
import { isMlflowPath, mountMlflow } from "./mlflow/mount";
import type { MlflowOperation } from "./mlflow/operation";

/**
 * Refuses a body whose SHA-256 differs from the signed one. A streamed body fails at its end, so no route stores it.
 */
function signedBody(streamed: boolean): MiddlewareHandler<ApiEnvironment> {
  return async (context, next) => {
    const signed = context.req.header("x-amz-content-sha256");
    const { method } = context.req;
    if (signed === undefined || !/^[0-9a-f]{64}$/.test(signed) || method === "GET" || method === "HEAD") return next();
    if (streamed) verifyAtEnd(context, signed);
    else await verifyNow(context, signed);
    return next();
  };
}

async function verifyNow({ req }: Context<ApiEnvironment>, signed: string): Promise<void> {
  const text = await req.bodyCache.text;
  if (text !== undefined) {
    check(signed, sha256().update(text));
    return;
  }
  const body = await req.raw.arrayBuffer();
  check(signed, sha256().update(new Uint8Array(body)));
  req.raw = new Request(req.raw.url, { method: req.method, headers: req.raw.headers, body });
}

function verifyAtEnd({ req }: Context<ApiEnvironment>, signed: string): void {
  const digest = sha256();
  const { body } = req.raw;
  if (!body) {
    check(signed, digest);
    return;
  }
  const verified = body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        digest.update(chunk);
        controller.enqueue(chunk);
      },
      flush: () => check(signed, digest),
    }),
  );
  req.raw = new Request(req.raw, { body: verified, duplex: "half" } as RequestInit);
}

function sha256(): Hash {
  return createHash("sha256");
}

function check(signed: string, found: Hash): void {
  const digest = found.digest("hex");
  if (digest === signed) return;
  throw new RingmasterError(`the body's SHA-256 is ${digest}, but it was signed as ${signed}: send it again`, {
    code: "UNAUTHENTICATED",
    httpStatus: 401,
  });
}

/** API Gateway's own limit. */
const maxBodyBytes = 10 * 1024 * 1024;
/** Far above any name or id, and far below the maximum length of a DynamoDB key. */
const maxNameLength = 255;

const inert = Object.entries(inertContent);

function checkedByEnvironment(): boolean {
  return process.env["RINGMASTER_CHECK_RESPONSES"] === "1";
}

function refuseLargeBody(path: string): never {
  const instead = isMlflowPath(path)
    ? "set MLFLOW_MULTIPART_UPLOAD_MINIMUM_FILE_SIZE=1000000 so that larger files are uploaded directly to the object store"
    : "upload data through /api/v1/uploads";
  throw new RingmasterError(`the request body is larger than ${maxBodyBytes} bytes; ${instead}`, {
    code: "BODY_TOO_LARGE",
    httpStatus: 413,
  });
}

export interface AppOptions extends CallerSettings {
  readonly checkResponses?: boolean;
  readonly corsOrigins?: readonly string[];
  readonly mlflow?: readonly MlflowOperation[];
  /** Handlers receive bodies as streams of any length. */
  readonly streamedBodies?: boolean;
}

/** Creates the app with the routes under `/api/v1` and their common parts: request ids, limits, tenancy, errors. */
export function frameApp<Ports = Platform>(
  deployment: Scope & { forTeam(team: string): Ports },
  routes: readonly Route<Ports>[],
  {
    checkResponses = checkedByEnvironment(),
    corsOrigins = [],
    mlflow = [],
    streamedBodies = false,
    ...callers
  }: AppOptions = {},
): Hono<ApiEnvironment> {
  const app = new Hono<ApiEnvironment>();

  app.use(async (context, next) => {
    const requestId = randomUUID();
    context.set("requestId", requestId);
    const startedAt = deployment.clock.now();
    await next();
    // `context.header` would create a new response, and a stream of its body, for each header.
    const { headers } = context.res;
    for (const [name, value] of [["x-request-id", requestId] as const, ...inert]) {
      if (!headers.has(name)) headers.set(name, value);
    }
    deployment.logger.log("debug", "request", {
      requestId,
      method: context.req.method,
      path: context.req.path,
      status: context.res.status,
      milliseconds: deployment.clock.now() - startedAt,
    });
  });
  if (corsOrigins.length > 0) {
    // Browsers send an unsigned preflight request, so this comes before authentication.
    const exposeHeaders = ["x-request-id", "retry-after", "etag", "ringmaster-source"];
    app.use(cors({ origin: [...corsOrigins], exposeHeaders, maxAge: 600 }));
  }
  if (!streamedBodies) app.use(bodyLimit({ maxSize: maxBodyBytes, onError: ({ req }) => refuseLargeBody(req.path) }));
  app.use(signedBody(streamedBodies));

  app.use(async (context, next) => {
    const long = context.req.path.split("/").find((name) => name.length > maxNameLength);
    if (long !== undefined) {
      const rule = `must have at most ${maxNameLength} characters`;
      throw new InvalidInputError("the path", [{ path: "path", value: `${long.slice(0, 20)}…`, rule }]);
    }
    await next();
  });

  // The environment names all ports of the API. The type of `routes` ensures that they use no others than this app's.
  app.use(tenancy(deployment as Scope as Deployment, callers));
  mountRoutes(app, routes as readonly Route[], { checkResponses });
  mountMlflow(app, mlflow);

  app.notFound((context) => {
    throw new RingmasterError(`there is no ${context.req.method} ${context.req.path}`, {
      code: "ROUTE_NOT_FOUND",
      httpStatus: 404,
    });
  });

  app.onError((error, context) => {
    const requestId = context.get("requestId");
    const refusal = knownError(error);
    if (refusal.httpStatus >= 500) deployment.logger.log("error", "request failed", { requestId, error });
    if (isMlflowPath(context.req.path)) return mlflowErrorResponse(refusal, requestId);
    if (isLookedAt(context.req.path, context.req.header("accept"))) return problemPage(refusal, requestId);
    const response = errorResponse(refusal, requestId);
    return checkResponses ? checkedRefusal(context.get("operation"), error, response) : response;
  });
  return app;
}
