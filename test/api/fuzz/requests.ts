import fc, { type Arbitrary } from "fast-check";
import type { OpenApiDocument, Operation, Parameter } from "../../../api/openapi/model";
import { damaged, hostile, hostileText, valuesOf } from "./arbitrary";
import { goodBodies, goodValues } from "./good";
import type { Knowledge } from "./knowledge";

export interface Described {
  readonly operation: Operation;
  readonly method: string;
  readonly path: string;
}

/** The value of a place in a request: a text, or a known thing's name at the time of sending. */
type Slot = { readonly literal: string } | { readonly known: string };

/** A request before it is known what there is to be named. */
interface Draft {
  readonly operationId: string;
  /** Selects one of the things that fit. */
  readonly at: number;
  readonly path: Readonly<Record<string, Slot>>;
  readonly query: Readonly<Record<string, Slot>>;
  readonly headers: Readonly<Record<string, Slot>>;
  /** JSON, mostly, in which `"@model"` stands for a model's name. */
  readonly body?: string;
  /** Goes on behind the last page that this operation answered. */
  readonly follows: boolean;
}

interface Filled {
  readonly method: string;
  /** With its query; of the native API, under `/api/v1`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export function operationsOf(document: OpenApiDocument): ReadonlyMap<string, Described> {
  return new Map(
    Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(
        ([method, operation]) => [operation.operationId, { operation, method: method.toUpperCase(), path }] as const,
      ),
    ),
  );
}

/** By what name a parameter's values are known: a dataset's `name` is no model's. */
export function knownAs({ tags: [tag] }: Operation, name: string): string {
  if (name === "name") return tag === "Datasets" ? "dataset" : "model";
  if (name === "version" && tag === "Datasets") return "datasetVersion";
  return name === "of" ? "runId" : name;
}

export function draftsOf(document: OpenApiDocument, { operation }: Described): Arbitrary<Draft> {
  const { schemas } = document.components;
  const parameters = parametersOf(document, operation);
  const slotOf = (value: unknown): Slot => {
    const text = String(value);
    return /^@\w+$/.test(text) ? { known: text.slice(1) } : { literal: text };
  };
  const slot = ({ name, schema, in: place }: Parameter): Arbitrary<Slot> => {
    const wrong = place === "header" ? fc.string({ minLength: 1, maxLength: 300 }) : hostileText;
    const values = Array.isArray(schema["enum"]) ? undefined : goodValues[name];
    const good: Arbitrary<Slot> = values
      ? fc.constantFrom(...values).map(slotOf)
      : place === "path" || name === "of"
        ? fc.constant({ known: knownAs(operation, name) })
        : valuesOf(schema, schemas).map(slotOf);
    return fc.oneof(
      { weight: 20, arbitrary: good },
      { weight: 1, arbitrary: valuesOf(schema, schemas).map(slotOf) },
      { weight: 1, arbitrary: wrong.map((literal) => ({ literal })) },
    );
  };
  const slots = (place: Parameter["in"]): Arbitrary<Readonly<Record<string, Slot>>> => {
    // `follows` determines the page tokens of lists.
    const here = parameters.filter((parameter) => parameter.in === place && parameter.name !== "nextToken");
    const always = fc.record(Object.fromEntries(here.map((parameter) => [parameter.name, slot(parameter)])), {
      requiredKeys: here.filter(({ required }) => required).map(({ name }) => name),
    });
    // A client seldom leaves out what it must say.
    return place === "query"
      ? fc.oneof({ weight: 20, arbitrary: always }, { weight: 1, arbitrary: fc.constant({}) })
      : always;
  };
  const odd = fc.oneof(
    { weight: 30, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fc.tuple(hostileText, hostileText).map(([name, literal]) => ({ [name]: { literal } })) },
    { weight: 1, arbitrary: hostileText.map((literal) => ({ nextToken: { literal } })) },
  );
  const type = fc.oneof(
    { weight: 40, arbitrary: fc.constant("application/json") },
    {
      weight: 1,
      arbitrary: fc.constantFrom("text/plain", "application/x-www-form-urlencoded", "application/xml", ";"),
    },
  );
  const actor = fc.constantFrom("ada", "grace", "test");
  const schema = operation.requestBody?.content["application/json"]?.schema;
  return fc
    .record({
      at: fc.nat(10_000),
      path: slots("path"),
      query: slots("query"),
      odd,
      headers: slots("header"),
      actor,
      type,
      body: schema === undefined ? fc.constant(undefined) : bodies(operation.operationId, valuesOf(schema, schemas)),
      follows: fc.boolean(),
    })
    .map(({ at, path, query, odd: more, headers, actor: by, type: contentType, body, follows }) => ({
      operationId: operation.operationId,
      at,
      path,
      query: { ...query, ...more },
      headers: {
        ...headers,
        "x-ringmaster-actor": { literal: by },
        ...(body === undefined ? {} : { "content-type": { literal: contentType } }),
      },
      ...(body === undefined ? {} : { body }),
      follows,
    }));
}

function parametersOf(document: OpenApiDocument, operation: Operation): readonly Parameter[] {
  const shared = document.components.parameters;
  return operation.parameters.map((parameter) =>
    "$ref" in parameter ? shared[parameter.$ref.slice(parameter.$ref.lastIndexOf("/") + 1)]! : parameter,
  );
}

function bodies(operationId: string, right: Arbitrary<unknown>): Arbitrary<string> {
  const known = goodBodies[operationId] ?? [];
  const good = known.length > 0 ? fc.constantFrom(...known) : right;
  return fc.oneof(
    { weight: 10, arbitrary: good.map((value) => JSON.stringify(value)) },
    { weight: 6, arbitrary: good.chain(damaged).map((value) => JSON.stringify(value) ?? "") },
    { weight: 3, arbitrary: right.map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: hostile.map((value) => JSON.stringify(value)) },
    {
      weight: 1,
      arbitrary: fc.constantFrom("", "{", '{"a":1e999}', '{"a":1,"a":2}', "[".repeat(50_000), '"\\ud800"', "\u0000"),
    },
  );
}

const placeholder = /"@(\w+)"/g;

/** The request that a draft has become. */
export function filled({ method, path: template }: Described, draft: Draft, knowledge: Knowledge): Filled {
  const { operationId, at, path, query, headers, body, follows } = draft;
  const named = [
    ...[...Object.values(path), ...Object.values(query)].flatMap((slot) => ("known" in slot ? [slot.known] : [])),
    ...[...(body ?? "").matchAll(placeholder)].map(([, name]) => name!),
  ];
  const thing = knowledge.choose(named, at);
  const known = (name: string): unknown => knowledge.value(name, thing, at) ?? "none";
  const write = (slot: Slot | undefined): string =>
    slot === undefined ? "" : "literal" in slot ? slot.literal : String(known(slot.known));
  const lastPage = follows ? knowledge.tokenOf(operationId) : undefined;
  const plain = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encode(write(path[name])));
  const requested = Object.entries(query).map(([name, slot]) => [name, write(slot)] as const);
  const search = (
    lastPage ? [...requested.filter(([name]) => name !== "nextToken"), ["nextToken", lastPage.token]] : requested
  )
    .map(([name, value]) => `${encode(name!)}=${encode(value!)}`)
    .join("&");
  const filledPath = lastPage?.path ?? plain;
  return {
    method,
    path: search === "" ? filledPath : `${filledPath}?${search}`,
    headers: Object.fromEntries(
      // Others are refused before any program sees them.
      Object.entries(headers).map(([name, slot]) => [name, write(slot).replaceAll(/[^\x20-\x7e]/g, "?")]),
    ),
    ...(body === undefined
      ? {}
      : { body: body.replaceAll(placeholder, (_, name: string) => JSON.stringify(known(name))) }),
  };
}

/** As a client would; half a surrogate pair cannot be sent. */
function encode(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString());
}
