import type { Context, Hono } from "hono";
import type * as z from "zod";
import type { Platform } from "../../adapters/platform";
import { RingmasterError } from "../../core/errors";
import { toJson } from "../../core/json-text";
import { isoTime } from "../../core/ports";
import type { Actor } from "../../core/registry/model";
import type { DeepReadonly } from "../../core/shapes";
import type { ApiOperation, OperationResponse, OperationResponses } from "../operation";
import { type ApiEnvironment, callerIn, checkScope } from "./context";
import { errorResponse } from "./error-response";
import { readBody, readHeaders, readIdempotencyKey, readParams, readQuery } from "./input";
import { checkResponse } from "./response-check";

/** A request that satisfies its operation's schemas, and the ports for its handler. */
export interface Call<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Headers extends z.ZodType,
  Body extends z.ZodType,
  Ports = Platform,
> {
  readonly params: z.output<Params>;
  readonly query: z.output<Query>;
  readonly headers: z.output<Headers>;
  readonly body: z.output<Body>;
  readonly idempotencyKey: string | undefined;
  readonly platform: Ports;
  readonly actor: string;
  readonly caller: Pick<Actor, "by" | "person">;
  /** Returns the caller as the actor of a change that is made now. */
  readonly actorFor: (reason: string) => Actor;
  /** Returns the key that makes a change idempotent; `undefined` if the request has no `Idempotency-Key`. */
  readonly onceFor: (change: string) => string | undefined;
  readonly requestId: string;
  readonly context: Context<ApiEnvironment>;
}

/** A request of an operation, for a handler that uses only some ports of the API. */
export type CallOf<C, Ports> =
  C extends ApiOperation<infer Params, infer Query, infer Headers, infer Body>
    ? Call<Params, Query, Headers, Body, Ports>
    : never;

type BodyOf<R> = R extends OperationResponse<infer Schema> ? DeepReadonly<z.input<Schema>> : never;

/**
 * A status of the operation with its body; for content other than JSON (a page, an event stream), the whole response.
 */
export type Reply<Responses extends OperationResponses> =
  | { readonly response: Response }
  | {
      readonly [Status in keyof Responses]: {
        readonly status: Status;
        readonly body: BodyOf<Responses[Status]>;
        readonly headers?: Readonly<Record<string, string>>;
      };
    }[keyof Responses];

/** An operation, for apps that have at least the ports `Ports`. */
export interface Route<Ports = Platform> {
  readonly operation: ApiOperation;
  answer(context: Context<ApiEnvironment>): Promise<Response>;
  /** Never present: a route is not assignable where a port is missing. */
  readonly uses?: (ports: Ports) => void;
}

/** Defines a route by its operation and a handler, which returns the body of its only success. */
export function defineRoute<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Headers extends z.ZodType,
  Body extends z.ZodType,
  Responses extends OperationResponses,
  const Answer extends BodyOf<Responses[keyof Responses]>,
>(
  operation: ApiOperation<Params, Query, Headers, Body, Responses>,
  handler: (call: Call<Params, Query, Headers, Body>) => Promise<Answer> | Answer,
): Route {
  const [status, ...others] = Object.keys(operation.responses);
  if (others.length > 0) throw new Error(`${operation.operationId} has several statuses: its handler must choose one`);
  return defineReplyRoute(operation, async (call) => ({ status: Number(status), body: await handler(call) }) as never);
}

/** Defines an operation whose handler chooses the status, sets headers, or answers with other content than JSON. */
export function defineReplyRoute<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Headers extends z.ZodType,
  Body extends z.ZodType,
  Responses extends OperationResponses,
  const Answer extends Reply<Responses>,
  Ports = Platform,
>(
  operation: ApiOperation<Params, Query, Headers, Body, Responses>,
  handler: (call: Call<Params, Query, Headers, Body, Ports>) => Promise<Answer> | Answer,
): Route<Ports> {
  return {
    operation,
    async answer(context) {
      const platform = context.get("platform");
      const caller = callerIn(context);
      const params = readParams(context, operation.params);
      const query = readQuery(context, operation.query);
      const headers = readHeaders(context, operation.headers);
      const idempotencyKey = operation.idempotencyKey ? readIdempotencyKey(context) : undefined;
      const call = {
        ...{ params, query, headers, idempotencyKey, platform, caller, context },
        body: operation.body && (await readBody(context, operation.body)),
        actor: context.get("actor"),
        actorFor: (reason: string) => ({ ...caller, reason, at: isoTime(platform.clock) }),
        onceFor: (change: string) => (idempotencyKey === undefined ? undefined : `${change}#${idempotencyKey}`),
        requestId: context.get("requestId"),
      } as unknown as Call<Params, Query, Headers, Body, Ports>;
      const reply = await handler(call);
      if ("response" in reply) return reply.response;
      const type = { "content-type": "application/json" };
      return new Response(toJson(reply.body), {
        status: reply.status as number,
        headers: { ...type, ...reply.headers },
      });
    },
  };
}

/** Mounts the routes under `/api/v1`. A known path with another method returns 405 with `Allow`. */
export function mountRoutes(
  app: Hono<ApiEnvironment>,
  routes: readonly Route[],
  { checkResponses }: { readonly checkResponses: boolean },
): void {
  const methods = new Map<string, string[]>();
  for (const route of routes) {
    const { method, path } = route.operation;
    const pattern = `/api/v1${path.replaceAll(/\{(\w+)\}/g, ":$1")}`;
    methods.set(pattern, [...(methods.get(pattern) ?? []), method, ...(method === "GET" ? ["HEAD"] : [])]);
    app.on(method, pattern, async (context) => {
      context.set("operation", route.operation);
      checkScope(context, route.operation.operationId, route.operation.scope);
      const response = await route.answer(context);
      if (checkResponses) await checkResponse(route.operation, response);
      return response;
    });
  }
  for (const [pattern, allowed] of methods) {
    app.all(pattern, (context) => {
      const allow = allowed.join(", ");
      const error = new RingmasterError(`${context.req.path} takes ${allow}, not ${context.req.method}`, {
        code: "METHOD_NOT_ALLOWED",
        httpStatus: 405,
        details: { allow: allowed },
      });
      return errorResponse(error, context.get("requestId"), { allow });
    });
  }
}
