import { z } from "zod";
import type { Scope } from "../core/access/scopes";
import type { ErrorCode } from "./errors";

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** How dear a call is; the gateway's rate limits are set by class. */
export type RouteClass = "read" | "write" | "heavy";

/** What a successful answer holds. `schema` describes JSON; other content (a page, an event stream) only has its media type. */
export interface ResponseContract<Schema extends z.ZodType = z.ZodType> {
  readonly description: string;
  readonly schema?: Schema;
  /** Media types; `application/json` where it is left out, none for an answer without a body. */
  readonly content?: readonly string[];
  /** Headers that it always has beside `x-request-id`, by name, with what they say. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly example?: unknown;
}

export type ResponseContracts = Readonly<Record<number, ResponseContract>>;

/**
 * One operation of the API. The same object checks requests, documents them, makes the typed client and the gateway's routes: there is no
 * second description that could differ.
 */
export interface Contract<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Headers extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Responses extends ResponseContracts = ResponseContracts,
> {
  /** The name of the client's function: `submitTrainingRun`. */
  readonly operationId: string;
  readonly method: HttpMethod;
  /** Under `/api/v1`: `/training-runs/{runId}`. */
  readonly path: string;
  readonly tag: Tag;
  /** One line, imperative, no full stop. */
  readonly summary: string;
  readonly description?: string;
  readonly params: Params;
  readonly query: Query;
  readonly headers: Headers;
  /** An empty body is read as `{}`. */
  readonly body?: Body;
  readonly bodyExample?: unknown;
  /** By status: 2xx, 304 of what has an `ETag`, 307 of what is fetched from the store. */
  readonly responses: Responses;
  /** Codes beside those that any route may answer (`generalErrors`). */
  readonly errors: readonly ErrorCode[];
  readonly class: RouteClass;
  /** The scope that a token must have. */
  readonly scope: Scope;
  /** Whether sending the same request again changes nothing more: clients repeat such requests by themselves. */
  readonly idempotent: boolean;
  /** Takes `Idempotency-Key`, which makes it idempotent. */
  readonly idempotencyKey: boolean;
  /** The array in the answer that goes on at `nextToken`. */
  readonly pages?: string;
  /** The function that answers it on AWS, and whether its answer is streamed. */
  readonly function: "api" | "stream-metrics";
}

export const tags = {
  "Training runs": "Submit jobs, follow them, restore them from their checkpoints.",
  Datasets: "Immutable, content-addressed versions of datasets.",
  Models: "Registered models: versions, approvals, the champion, rollback.",
  Experiments: "What runs belong to.",
  Runs: "Records of all runs, trained here or logged from elsewhere: parameters, metrics, tags, artifacts; search, compare, lineage.",
  Serving: "Which version answers whom: canaries, shadows, outcomes.",
  Contents: "Presigned transfer of data straight to and from the bucket.",
  Notifications: "Where a team is notified of runs that end and versions that need an approval.",
  Retraining: "Rules that start a run when data arrive, a time comes or a model drifts.",
  Pages: "Self-contained web pages of experiments and runs, for people.",
  System: "Health and this description.",
} as const;
export type Tag = keyof typeof tags;

const nothing = z.strictObject({});
type Nothing = typeof nothing;

/** What a contract needs said; the rest has defaults. */
type Definition<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Headers extends z.ZodType,
  Body extends z.ZodType,
  Responses extends ResponseContracts,
> = Pick<
  Contract<Params, Query, Headers, Body, Responses>,
  "operationId" | "method" | "path" | "tag" | "summary" | "description" | "body" | "bodyExample" | "responses" | "pages"
> & {
  readonly params?: Params;
  readonly query?: Query;
  readonly headers?: Headers;
  readonly errors?: readonly ErrorCode[];
  readonly class?: RouteClass;
  readonly scope?: Scope;
  readonly idempotent?: boolean;
  readonly idempotencyKey?: boolean;
  readonly function?: Contract["function"];
};

export function contract<
  Responses extends ResponseContracts,
  Params extends z.ZodType = Nothing,
  Query extends z.ZodType = Nothing,
  Headers extends z.ZodType = Nothing,
  Body extends z.ZodType = z.ZodUndefined,
>(definition: Definition<Params, Query, Headers, Body, Responses>): Contract<Params, Query, Headers, Body, Responses> {
  const { method } = definition;
  return {
    errors: [],
    class: method === "GET" ? "read" : "write",
    scope: method === "GET" ? "read" : "write",
    idempotent: method === "GET" || method === "PUT" || method === "DELETE",
    idempotencyKey: false,
    function: "api",
    ...definition,
    // A schema left out is `nothing`, which is what its type parameter then defaults to.
    params: definition.params ?? (nothing as unknown as Params),
    query: definition.query ?? (nothing as unknown as Query),
    headers: definition.headers ?? (nothing as unknown as Headers),
  };
}

/** Names in braces in a contract's path, in order. */
export function pathParameters(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
}

/** Of a JSON answer. */
export function responseSchema({ schema, description }: ResponseContract): z.ZodType {
  if (schema === undefined) throw new Error(`the answer "${description}" is JSON and has no schema`);
  return schema;
}
