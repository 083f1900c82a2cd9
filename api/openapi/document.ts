import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { teamNamePattern } from "../../core/access/principals";
import { type ErrorCode, errorCatalogue, errorCodesOf, generalErrors } from "../errors";
import { type ApiOperation, type OperationResponse, repeatabilityOf, tags } from "../operation";
import { errorBody } from "../schemas/common";
import { exampleOf } from "./example";
import type { Header, JsonSchema, OpenApiDocument, Operation, Parameter, Reference, ResponseObject } from "./model";

class SchemaCollection {
  private readonly named = new Map<string, JsonSchema>();

  /**
   * Converts a schema; named ones become references. Rules of several fields (`refine`) cannot be expressed there.
   * @param io `input`: as a client writes it; `output`: as the API returns it, with defaults filled in
   */
  add(schema: z.ZodType, io: "input" | "output"): JsonSchema {
    const { $schema: _, $defs = {}, ...json } = z.toJSONSchema(schema, { io, override: (at) => tidy(at, io) });
    for (const [name, definition] of Object.entries($defs)) {
      const { id: _id, ...rest } = withReferences(definition as JsonSchema);
      const earlier = this.named.get(name);
      if (earlier !== undefined && !isDeepStrictEqual(earlier, rest)) {
        throw new Error(`the API has two schemas with the id ${name}: give one of them another`);
      }
      this.named.set(name, rest);
    }
    return withReferences(json);
  }

  get components(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries([...this.named].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

type Override = NonNullable<NonNullable<Parameters<typeof z.toJSONSchema>[1]>["override"]>;

const tidy = ({ zodSchema, jsonSchema }: Parameters<Override>[0], io: "input" | "output"): void => {
  // The bounds of a double's whole numbers are known to every reader of JSON.
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (io === "input") return;
  // A response always has members with defaults. It may get additional members, which clients must ignore.
  delete jsonSchema.default;
  const { def } = zodSchema._zod;
  if (def.type === "object" && def.catchall === undefined) delete jsonSchema.additionalProperties;
};

function withReferences<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withReferences) as T;
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      key === "$ref" && typeof member === "string"
        ? member.replace("#/$defs/", "#/components/schemas/")
        : withReferences(member),
    ]),
  ) as T;
}

/** Introduction of the document, in Markdown. */
export const introduction = `Everything under \`/api/v1\` takes and returns JSON.

**Authentication.** On AWS, by the deployment's configuration: requests signed with IAM credentials (Signature Version 4, service \`execute-api\`), or a bearer token of a Cognito user pool or another OpenID provider. On one machine, requests are not signed. A caller belongs to a team, and sees only that team's data, runs and models.

**Errors** are \`{"error": {"code", "message", "details", "requestId"}}\`. \`code\` is stable; \`message\` states the problem, the value, the rule and the next step. An invalid request is refused with INVALID_INPUT and *all* its problems in \`details.problems\`, and changes nothing.

**Retries.** GET, PUT and DELETE may be repeated, and so may each POST that this document marks (\`x-ringmaster.repeatable\`). The others take an \`Idempotency-Key\`: the same request under the same key is carried out once. Retry 429, 502, 503 and 504 after a pause.

**Lists** return \`nextToken\` while there are more items; pass it as the query parameter \`nextToken\`. Tokens are opaque.`;

const requestIdHeader = { "x-request-id": { $ref: "#/components/headers/RequestId" } };

const documents = new WeakMap<readonly ApiOperation[], OpenApiDocument>();

/** Returns the document of the operations that check the requests. It is built once, because that takes a second. */
export function openApiDocument(operations: readonly ApiOperation[]): OpenApiDocument {
  const document = documents.get(operations) ?? buildDocument(operations);
  documents.set(operations, document);
  return document;
}

/** Builds the document. Pure: equal operations give an equal document. */
function buildDocument(operations: readonly ApiOperation[]): OpenApiDocument {
  const schemas = new SchemaCollection();
  const error = schemas.add(errorBody, "output");
  const paths: Record<string, Record<string, Operation>> = {};
  for (const operation of operations) {
    const { path, method } = operation;
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(operation, schemas, error) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Ringmaster",
      version: "1",
      summary: "Serverless ML training: from raw data to a promoted model.",
      description: introduction,
      license: { name: "Apache 2.0", identifier: "Apache-2.0" },
    },
    servers: [
      { url: "http://127.0.0.1:4700/api/v1", description: "One machine (`ringmaster up`)" },
      {
        url: "https://{api}.execute-api.{region}.amazonaws.com/live/api/v1",
        description: "AWS",
        variables: { api: { default: "abcdef1234" }, region: { default: "us-east-1" } },
      },
    ],
    tags: Object.entries(tags)
      .filter(([name]) => operations.some(({ tag }) => tag === name))
      .map(([name, description]) => ({ name, description })),
    security: [{ sigv4: [] }, { bearer: [] }, {}],
    paths,
    components: {
      schemas: schemas.components,
      parameters: {
        Team: {
          name: "X-Ringmaster-Team",
          in: "header",
          required: false,
          description: "One of the caller's teams. Optional for a caller in one team.",
          example: "vision",
          schema: { type: "string", maxLength: 32, pattern: teamNamePattern.source },
        },
        IdempotencyKey: {
          name: "Idempotency-Key",
          in: "header",
          required: false,
          description:
            "1–255 printable ASCII characters. The same request under the same key is carried out once, with the same response; another request under it is refused with IDEMPOTENCY_CONFLICT.",
          example: "8e03978e-40d5-43e8-bc93-6894a57f9324",
          schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[\\x20-\\x7e]{1,255}$" },
        },
      },
      headers: {
        RequestId: { description: "Names this request in the logs.", schema: { type: "string" } },
      },
      responses: Object.fromEntries(
        [...byStatus(generalErrors)].map(([status, codes]) => [`Error${status}`, errorResponse(codes, error)]),
      ),
      securitySchemes: {
        sigv4: {
          type: "apiKey",
          in: "header",
          name: "Authorization",
          description:
            "AWS Signature Version 4 for the service `execute-api`, where the deployment's auth mode is `iam`.",
          "x-amazon-apigateway-authtype": "awsSigv4",
        },
        bearer: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "JWT",
          description: "A token of the user pool or identity provider, where the auth mode is `cognito` or `oidc`.",
        },
      },
    },
  };
}

function operationOf(operation: ApiOperation, schemas: SchemaCollection, error: JsonSchema): Operation {
  const { operationId, tag, summary, description, body, bodyExample, pages } = operation;
  const answers: Record<string, ResponseObject | Reference> = {};
  for (const [status, answer] of Object.entries(operation.responses)) {
    const json = answer.schema && {
      schema: schemas.add(answer.schema, "output"),
      example: answer.example ?? exampleOf(answer.schema),
    };
    const types = answer.content ?? ["application/json"];
    answers[status] = {
      description: answer.description,
      headers: { ...requestIdHeader, ...headersOf(answer) },
      content: Object.fromEntries(types.map((type) => [type, type === "application/json" && json ? json : {}])),
    };
  }
  for (const [status, codes] of byStatus(errorCodesOf(operation))) {
    const general = codes.every((code) => generalErrors.includes(code));
    answers[status] = general ? { $ref: `#/components/responses/Error${status}` } : errorResponse(codes, error);
  }
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    parameters: [
      ...parametersOf(operation.params, "path", schemas),
      ...parametersOf(operation.query, "query", schemas),
      ...parametersOf(operation.headers, "header", schemas),
      ...(tag === "System" ? [] : [{ $ref: "#/components/parameters/Team" }]),
      ...(operation.idempotencyKey ? [{ $ref: "#/components/parameters/IdempotencyKey" }] : []),
    ],
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            // An empty body is read as `{}`.
            required: !body.safeParse({}).success,
            content: {
              "application/json": {
                schema: schemas.add(body, "input"),
                ...(bodyExample === undefined ? {} : { example: bodyExample }),
              },
            },
          },
        }),
    responses: answers,
    "x-ringmaster": {
      class: operation.class,
      scope: operation.scope,
      function: operation.function,
      repeatable: repeatabilityOf(operation),
      ...(pages === undefined ? {} : { pages }),
    },
  };
}

function headersOf({ headers = {} }: OperationResponse): Readonly<Record<string, Header>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [
      name,
      { description, required: true, schema: { type: "string" } },
    ]),
  );
}

function parametersOf(schema: z.ZodType, place: Parameter["in"], schemas: SchemaCollection): readonly Parameter[] {
  const json = schemas.add(schema, "input") as {
    readonly properties?: Readonly<Record<string, JsonSchema>>;
    readonly required?: readonly string[];
  };
  return Object.entries(json.properties ?? {}).map(([name, { description, example, ...rest }]) => ({
    name,
    in: place,
    required: place === "path" || (json.required ?? []).includes(name),
    ...(typeof description === "string" ? { description } : {}),
    ...(example === undefined ? {} : { example }),
    schema: rest,
  }));
}

function byStatus(codes: readonly ErrorCode[]): ReadonlyMap<string, readonly ErrorCode[]> {
  const groups = new Map<string, ErrorCode[]>();
  for (const code of codes) {
    const status = String(errorCatalogue[code].status);
    groups.set(status, [...(groups.get(status) ?? []), code]);
  }
  return new Map([...groups].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function errorResponse(codes: readonly ErrorCode[], error: JsonSchema): ResponseObject {
  return {
    description: codes.map((code) => `\`${code}\`: ${errorCatalogue[code].meaning}`).join(" "),
    headers: requestIdHeader,
    content: {
      "application/json": {
        schema: error,
        examples: Object.fromEntries(
          codes.map((code) => [
            code,
            { value: { error: { code, message: errorCatalogue[code].meaning, requestId: "6a1f…" } } },
          ]),
        ),
      },
    },
  };
}
