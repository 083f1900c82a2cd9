import * as z from "zod";
import type { Scope } from "../core/access/tokens";
import { nextToken } from "../core/shapes";
import type { ErrorCode } from "./errors";
import { pageQuery } from "./schemas/common";

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The cost class of a call. The gateway's rate limits are set by class. */
export type RouteClass = "read" | "write" | "heavy";

/** A successful response. `schema` describes JSON; other content (a page, an event stream) has a media type only. */
export interface OperationResponse<Schema extends z.ZodType = z.ZodType> {
  readonly description: string;
  readonly schema?: Schema;
  /** Media types. Default: `application/json`. Empty: a response without a body. */
  readonly content?: readonly string[];
  /** Headers that the response always has in addition to `x-request-id`: description by name. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly example?: unknown;
}

/** Defines a JSON response. The document derives an example from the schema, unless there is one. */
export function response<Schema extends z.ZodType>(description: string, schema: Schema, example?: unknown) {
  return { description, schema, example };
}

/** Defines an operation that lists items page by page. Spread it before members that differ, such as a longer query. */
export function pageOf<Item extends z.ZodType>(
  meta: { readonly id: string; readonly description?: string },
  item: Item,
  example?: unknown,
) {
  const page = z.object({ items: z.array(item), nextToken }).meta(meta);
  return {
    query: pageQuery,
    pages: "items",
    responses: { 200: response("A page.", page, example && { items: [example] }) },
  } as const;
}

export type OperationResponses = Readonly<Record<number, OperationResponse>>;

/**
 * Describes one operation of the API. It checks requests, types the client and defines document and gateway's route.
 */
export interface ApiOperation<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Headers extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Responses extends OperationResponses = OperationResponses,
  Pages extends string | undefined = string | undefined,
  Keyed extends boolean = boolean,
> {
  /** Name of the exported constant and of the client's operation: `submitTrainingRun`. */
  readonly operationId: string;
  readonly method: HttpMethod;
  /** Path under `/api/v1`: `/training-runs/{runId}`. */
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
  /** By status: 2xx, 304 (resource with an `ETag`), 307 (redirect to the content store). */
  readonly responses: Responses;
  /** Error codes in addition to those of every route (`generalErrors`). */
  readonly errors: readonly ErrorCode[];
  readonly class: RouteClass;
  /** The scope that a token must have. */
  readonly scope: Scope;
  /** Whether a repeated request changes nothing more. Clients repeat such requests automatically. */
  readonly idempotent: boolean;
  /** Whether the operation takes `Idempotency-Key`, which makes it idempotent. */
  readonly idempotencyKey: Keyed;
  /** The member of the response that holds the page's items; the next page is requested with `nextToken`. */
  readonly pages: Pages;
  /** The Lambda function that serves the operation. `stream-metrics` streams its response. */
  readonly function: "api" | "stream-metrics";
}

export const tags = {
  "Training runs": "Submit jobs, follow them, restore them from their checkpoints.",
  Datasets: "Immutable, content-addressed versions of datasets.",
  Models: "Registered models: versions, approvals, the champion, rollback.",
  Experiments: "Groups of runs.",
  Runs: "Records of all runs, trained here or logged from elsewhere: parameters, metrics, tags, artifacts; search, compare, lineage.",
  Serving: "Routing of requests to versions: canaries, shadows, outcomes.",
  Drift: "Inferences, and monitors that compare them with the data of the training.",
  "Feature store": "Feature views: versions, rows by time, and the latest features of an entity.",
  Contents: "Presigned transfer of data straight to and from the bucket.",
  Notifications: "Channels that notify a team of ended runs and versions that need an approval.",
  Triggers: "Start a run on a new version of data, a schedule, drift, a promotion or a signed request.",
  Pipelines: "Graphs of steps: functions, trainings, operations of this API, other pipelines.",
  Studies: "Searches for the best settings of a job.",
  Pages: "Self-contained web pages of experiments and runs, for people.",
  System: "Health and this description.",
} as const;
export type Tag = keyof typeof tags;

const nothing = z.strictObject({});
type Nothing = typeof nothing;

/** An operation with the fields that have defaults left out. */
type Definition<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Headers extends z.ZodType,
  Body extends z.ZodType,
  Responses extends OperationResponses,
  Pages extends string | undefined,
  Keyed extends boolean,
> = Pick<
  ApiOperation<Params, Query, Headers, Body, Responses, Pages>,
  "summary" | "description" | "body" | "bodyExample" | "responses"
> & {
  readonly params?: Params;
  readonly query?: Query;
  readonly headers?: Headers;
  readonly errors?: readonly ErrorCode[];
  readonly class?: RouteClass;
  readonly scope?: Scope;
  readonly idempotent?: boolean;
  readonly idempotencyKey?: Keyed;
  readonly pages?: Pages;
  readonly function?: ApiOperation["function"];
};

/**
 * Returns the function that defines operations of a tag: `operation("listModels", "GET /models", { summary, responses })`.
 */
export function operationsFor(tag: Tag) {
  return function operation<
    Responses extends OperationResponses,
    Params extends z.ZodType = Nothing,
    Query extends z.ZodType = Nothing,
    Headers extends z.ZodType = Nothing,
    Body extends z.ZodType = z.ZodUndefined,
    const Pages extends string | undefined = undefined,
    const Keyed extends boolean = false,
  >(
    operationId: string,
    route: `${HttpMethod} /${string}`,
    definition: Definition<Params, Query, Headers, Body, Responses, Pages, Keyed>,
  ): ApiOperation<Params, Query, Headers, Body, Responses, Pages, Keyed> {
    const [method, path] = route.split(" ") as [HttpMethod, string];
    return {
      ...{ operationId, method, path, tag },
      errors: [],
      class: method === "GET" ? "read" : "write",
      scope: method === "GET" ? "read" : "write",
      idempotent: method === "GET" || method === "PUT" || method === "DELETE",
      function: "api",
      ...definition,
      // The casts state the defaults of the type parameters: `Nothing`, `undefined` and `false`.
      params: definition.params ?? (nothing as unknown as Params),
      query: definition.query ?? (nothing as unknown as Query),
      headers: definition.headers ?? (nothing as unknown as Headers),
      pages: definition.pages as Pages,
      idempotencyKey: (definition.idempotencyKey ?? false) as Keyed,
    };
  };
}

/** Whether clients may send a request again automatically: always, with an `Idempotency-Key` only, or never. */
export type Repeatability = "always" | "with-key" | "never";

export function repeatabilityOf({ idempotent, idempotencyKey }: ApiOperation): Repeatability {
  if (idempotent) return "always";
  return idempotencyKey ? "with-key" : "never";
}

export function pathParameters(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
}

export function responseSchema({ schema, description }: OperationResponse): z.ZodType {
  if (schema === undefined) throw new Error(`the answer "${description}" is JSON and has no schema`);
  return schema;
}
