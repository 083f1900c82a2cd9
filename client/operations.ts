import type * as z from "zod";
import type { ApiOperation, OperationResponses } from "../api/operation";
import type { operations } from "../api/operations";
import type { DeepReadonly } from "../core/shapes";

type Operations = typeof operations;

/** Response body of an operation's successes: JSON only. `never` if there is none (a page, a redirect). */
type BodyOf<Responses extends OperationResponses> = {
  [Status in keyof Responses]: Responses[Status] extends { readonly schema: infer Schema extends z.ZodType }
    ? DeepReadonly<z.output<Schema>>
    : never;
}[keyof Responses];

type Answers = { readonly [Name in keyof Operations]: BodyOf<Operations[Name]["responses"]> };

/** Operations that return JSON. */
export type OperationName = { [Name in keyof Answers]: [Answers[Name]] extends [never] ? never : Name }[keyof Answers];

/** Response body of an operation: `Answer<"getModel">`. */
export type Answer<Name extends OperationName> = Answers[Name];

/** A member that is absent if it has no fields, and optional if all of its fields are. */
type Member<Key extends string, Fields> = [keyof Fields] extends [never]
  ? unknown
  : Record<never, never> extends Fields
    ? { readonly [K in Key]?: DeepReadonly<Fields> }
    : { readonly [K in Key]: DeepReadonly<Fields> };

/** Arguments of an operation: `Request<"getModel">` is `{ params: { name: string } }`. */
export type Request<Name extends OperationName> =
  Operations[Name] extends ApiOperation<
    infer Params,
    infer Query,
    z.ZodType,
    infer Body,
    OperationResponses,
    string | undefined,
    infer Keyed
  >
    ? Readonly<Record<never, never>> &
        Member<"params", z.input<Params>> &
        Member<"query", z.input<Query>> &
        ([Body] extends [z.ZodUndefined] ? unknown : Member<"body", z.input<Body>>) &
        ([Keyed] extends [true] ? { readonly idempotencyKey?: string } : unknown)
    : never;

/** Operations that list items page by page. */
export type PagedName = {
  [Name in OperationName]: Operations[Name]["pages"] extends string ? Name : never;
}[OperationName];

/** One item of a paged operation: `Item<"listDatasets">`. */
export type Item<Name extends PagedName> =
  Answer<Name> extends {
    readonly [Key in Operations[Name]["pages"] & string]: readonly (infer One)[];
  }
    ? One
    : never;
