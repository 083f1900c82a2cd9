import type { Context } from "hono";
import type { Platform } from "../../adapters/platform";
import type { Scope } from "../../core/access/tokens";
import type { Actor } from "../../core/registry/model";
import { type ApiEnvironment, callerIn } from "../http/context";
import type { Fields, Values } from "./fields";
import { readRequest } from "./request";

export interface MlflowCall<F extends Fields> {
  readonly fields: Values<F>;
  readonly params: Readonly<Record<string, string>>;
  readonly platform: Platform;
  readonly actor: string;
  readonly caller: Pick<Actor, "by" | "person">;
  readonly context: Context<ApiEnvironment>;
}

export interface MlflowOperation {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** After `/api/2.0` or `/ajax-api/2.0`: `/mlflow/runs/create`, `/mlflow/logged-models/{model_id}`. */
  readonly path: string;
  /** `3`: under `/api/3.0`. `page`: at the server's root, for MLflow's pages. */
  readonly version?: MlflowVersion;
  readonly scope: Scope;
  /** The members that it reads; absent if the operation reads its request itself. */
  readonly fields?: Fields;
  answer(context: Context<ApiEnvironment>): Promise<Response> | Response;
}

export type MlflowVersion = 2 | 3 | "page";

/** POST operations that change nothing. */
const readOnly = /\/(?:search|search-datasets|presigned-download-url|get-latest-versions)$/;
/** Operations that change what serves. */
const decisions: ReadonlySet<string> = new Set(["/mlflow/model-versions/transition-stage"]);

function scopeOf(method: MlflowOperation["method"], path: string): Scope {
  if (decisions.has(path)) return "approve";
  return method === "GET" || (method === "POST" && readOnly.test(path)) ? "read" : "write";
}

type Signature = `${MlflowOperation["method"]} /${string}`;

/** Defines an operation with a JSON request and response. Members that are `undefined` are omitted. */
export function operation<F extends Fields>(
  signature: Signature,
  fields: F,
  handler: (call: MlflowCall<F>) => Promise<object | undefined>,
): MlflowOperation {
  const raw = rawOperation(signature, async (context) => {
    const call: MlflowCall<F> = {
      fields: await readRequest(context, fields),
      params: context.req.param(),
      platform: context.get("platform"),
      actor: context.get("actor"),
      caller: callerIn(context),
      context,
    };
    return Response.json((await handler(call)) ?? {});
  });
  return { ...raw, fields };
}

/** Defines an operation that reads its request and creates its response itself: files and streams. */
export function rawOperation(
  signature: Signature,
  answer: (context: Context<ApiEnvironment>) => Promise<Response> | Response,
  version: MlflowVersion = 2,
): MlflowOperation {
  const [method, path] = signature.split(" ") as [MlflowOperation["method"], string];
  return { method, path, version, scope: scopeOf(method, path), answer };
}
