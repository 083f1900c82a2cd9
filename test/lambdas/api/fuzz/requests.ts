import fc, { type Arbitrary } from "fast-check";
import type { OpenApiDocument, Operation, Parameter } from "../../../../core/api/openapi/model";
import { damaged, hostile, hostileText, valuesOf } from "./arbitrary";

/** What there is to be found: values that paths and bodies may name. */
export interface World {
  /** By the name of a parameter, or by tag and name: `Models/name`. */
  readonly params: Readonly<Record<string, readonly (string | number)[]>>;
  /** Bodies that succeed, by operation; they are damaged, too. */
  readonly bodies: Readonly<Record<string, readonly unknown[]>>;
}

export interface FuzzRequest {
  readonly operationId: string;
  readonly method: string;
  /** With its query, under `/api/v1`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Requests of every operation of the document: right ones, nearly right ones, and nonsense. */
export function requestsOf(document: OpenApiDocument, world: World): Arbitrary<FuzzRequest> {
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) =>
      requestOf(document, world, path, method.toUpperCase(), operation),
    ),
  );
  return fc.oneof(...operations);
}

function requestOf(
  document: OpenApiDocument,
  world: World,
  path: string,
  method: string,
  operation: Operation,
): Arbitrary<FuzzRequest> {
  const { schemas, parameters: shared } = document.components;
  const parameters = operation.parameters.map((parameter) =>
    "$ref" in parameter ? shared[parameter.$ref.slice(parameter.$ref.lastIndexOf("/") + 1)]! : parameter,
  );
  const written = ({ name, schema, in: place }: Parameter): Arbitrary<string> => {
    const known = world.params[`${operation.tags[0]}/${name}`] ?? world.params[name] ?? [];
    const right = valuesOf(schema, schemas).map(String);
    const wrong = place === "header" ? fc.string({ minLength: 1, maxLength: 300 }) : hostileText;
    return fc.oneof(
      ...(known.length > 0 ? [{ weight: 8, arbitrary: fc.constantFrom(...known).map(String) }] : []),
      { weight: 2, arbitrary: right },
      { weight: 1, arbitrary: wrong },
    );
  };
  const inPath = parameters.filter((parameter) => parameter.in === "path");
  const inQuery = parameters.filter((parameter) => parameter.in === "query");
  const inHeaders = parameters.filter((parameter) => parameter.in === "header");
  const schema = operation.requestBody?.content["application/json"]?.schema;
  return fc
    .record({
      path: fc.record(Object.fromEntries(inPath.map((parameter) => [parameter.name, written(parameter)]))),
      query: fc.record(Object.fromEntries(inQuery.map((parameter) => [parameter.name, written(parameter)])), {
        requiredKeys: [],
      }),
      odd: fc.oneof(
        { weight: 20, arbitrary: fc.constant(undefined) },
        { weight: 1, arbitrary: fc.tuple(hostileText, hostileText) },
      ),
      named: fc.record(Object.fromEntries(inHeaders.map((parameter) => [parameter.name, written(parameter)])), {
        requiredKeys: [],
      }),
      type: fc.oneof(
        { weight: 30, arbitrary: fc.constant("application/json") },
        {
          weight: 1,
          arbitrary: fc.constantFrom("text/plain", "application/x-www-form-urlencoded", "application/xml", ";"),
        },
      ),
      body:
        schema === undefined
          ? fc.constant(undefined)
          : bodies(world.bodies[operation.operationId] ?? [], valuesOf(schema, schemas)),
    })
    .map(({ path: values, query, odd, named, type, body }): FuzzRequest => {
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encode(values[name] ?? ""));
      const search = Object.entries({ ...query, ...(odd ? { [odd[0]]: odd[1] } : {}) })
        .map(([name, value]) => `${encode(name)}=${encode(value ?? "")}`)
        .join("&");
      return {
        operationId: operation.operationId,
        method,
        path: search === "" ? filled : `${filled}?${search}`,
        headers: { ...headersOf(named), ...(body === undefined ? {} : { "content-type": type }) },
        ...(body === undefined ? {} : { body }),
      };
    });
}

function bodies(known: readonly unknown[], right: Arbitrary<unknown>): Arbitrary<string> {
  const good = known.length > 0 ? fc.constantFrom(...known) : right;
  return fc.oneof(
    { weight: 4, arbitrary: good.map((value) => JSON.stringify(value)) },
    { weight: 8, arbitrary: good.chain(damaged).map((value) => JSON.stringify(value) ?? "") },
    { weight: 4, arbitrary: right.map((value) => JSON.stringify(value)) },
    { weight: 2, arbitrary: hostile.map((value) => JSON.stringify(value)) },
    {
      weight: 1,
      arbitrary: fc.constantFrom("", "{", '{"a":1e999}', '{"a":1,"a":2}', "[".repeat(50_000), '"\\ud800"', "\u0000"),
    },
  );
}

/** What may stand in a header at all: others are refused before any program sees them. */
function headersOf(values: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, (value ?? "").replaceAll(/[^\x20-\x7e]/g, "?")]),
  );
}

/** As a client would; half a surrogate pair cannot be sent. */
function encode(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString());
}
