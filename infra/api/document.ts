import type { JsonSchema, OpenApiDocument, Operation, Parameter } from "../../api/openapi/model";
import { pathParameters } from "../../api/operation";
import type { SecurityScheme } from "../constructs/api-authorization";
import { binaryMediaTypes } from "./binary-types";
import { gatewayResponses } from "./gateway-responses";
import { gatewaySchema, mentionedSchemas, modelName, uncheckedSchemas } from "./schemas";

/** The parts of a deployment that the gateway's document depends on. ARNs may be CDK tokens. */
export interface GatewayDocumentOptions {
  readonly title: string;
  readonly securityScheme: SecurityScheme;
  readonly integration: (operation: Pick<Operation["x-ringmaster"], "function">) => Readonly<Record<string, unknown>>;
  /** Whether pages of other origins may call. Their browsers send an unsigned preflight request first. */
  readonly preflight: boolean;
}

const prefix = "/api/v1";

/** Builds OpenAPI 3.0 with API Gateway's extensions, one integration per operation. The gateway checks no answers. */
export function gatewayDocument(
  document: OpenApiDocument,
  options: GatewayDocumentOptions,
): Readonly<Record<string, unknown>> {
  const bodies = Object.values(document.paths)
    .flatMap((item) => Object.values(item))
    .map(({ requestBody }) => requestBody?.content["application/json"]?.schema)
    .filter((schema) => schema !== undefined);
  const models = mentionedSchemas(bodies, document.components.schemas);
  const unchecked = uncheckedSchemas(models);
  const paths = Object.entries(document.paths).map(([path, item]) => [
    prefix + path,
    {
      ...Object.fromEntries(
        Object.entries(item).map(([method, operation]) => {
          const { security, ...open } = methodOf(document, operation, options, unchecked);
          // Requests to hooks are verified by the function.
          return [method, path.startsWith("/hooks/") ? open : { ...open, security }];
        }),
      ),
      // Without this, the gateway treats other methods as unauthenticated. The function answers 405 with `Allow`.
      "x-amazon-apigateway-any-method": anyMethod(pathParameters(path), options),
      ...preflight(pathParameters(path), options),
    },
  ]);
  return {
    openapi: "3.0.1",
    info: { title: options.title, version: document.info.version },
    paths: {
      ...Object.fromEntries(paths),
      "/{proxy+}": {
        "x-amazon-apigateway-any-method": anyMethod(["proxy"], options),
        ...preflight(["proxy"], options),
      },
    },
    components: {
      schemas: Object.fromEntries(
        Object.entries(models)
          .filter(([name]) => !unchecked.has(name))
          .map(([name, schema]) => [modelName(name), gatewaySchema(schema, unchecked)]),
      ),
      securitySchemes: { caller: options.securityScheme },
    },
    "x-amazon-apigateway-request-validators": {
      all: { validateRequestParameters: true, validateRequestBody: true },
    },
    "x-amazon-apigateway-gateway-responses": gatewayResponses(options.preflight),
    "x-amazon-apigateway-binary-media-types": binaryMediaTypes,
  };
}

function methodOf(
  document: OpenApiDocument,
  operation: Operation,
  options: GatewayDocumentOptions,
  unchecked: ReadonlySet<string>,
): { readonly security: unknown; readonly [key: string]: unknown } {
  const { operationId, requestBody } = operation;
  const schema = requestBody?.content["application/json"]?.schema;
  const parameters = operation.parameters.map((parameter) =>
    "$ref" in parameter
      ? document.components.parameters[parameter.$ref.slice(parameter.$ref.lastIndexOf("/") + 1)]!
      : parameter,
  );
  return {
    operationId,
    parameters: parameters.map(parameterOf),
    ...(schema === undefined
      ? {}
      : {
          requestBody: {
            required: requestBody?.required ?? false,
            content: {
              "application/json": {
                schema: requestBody?.required
                  ? gatewaySchema(schema, unchecked)
                  : withoutType(schema, document.components.schemas, unchecked),
              },
            },
          },
        }),
    responses: { "200": { description: "See openapi.json." } },
    security: [{ caller: [] }],
    "x-amazon-apigateway-request-validator": "all",
    "x-amazon-apigateway-integration": options.integration(operation["x-ringmaster"]),
  };
}

/** AWS does not document how the gateway validates an absent optional body, so any type must pass. */
function withoutType(
  schema: JsonSchema,
  schemas: Readonly<Record<string, JsonSchema>>,
  unchecked: ReadonlySet<string>,
): JsonSchema {
  const { $ref } = schema;
  const named = typeof $ref === "string" ? schemas[$ref.slice($ref.lastIndexOf("/") + 1)] : schema;
  const { type: _, ...rest } = gatewaySchema(named ?? {}, unchecked);
  return rest;
}

function parameterOf({ name, in: place, required }: Parameter): object {
  return { name, in: place, required, schema: { type: "string" } };
}

function anyMethod(names: readonly string[], options: GatewayDocumentOptions): object {
  return {
    parameters: names.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } })),
    responses: { "404": { description: "No such route." } },
    security: [{ caller: [] }],
    "x-amazon-apigateway-request-validator": "all",
    "x-amazon-apigateway-integration": options.integration({ function: "api" }),
  };
}

/** Preflight requests, which browsers do not sign. The function answers by the configured origins. */
function preflight(names: readonly string[], options: GatewayDocumentOptions): object {
  if (!options.preflight) return {};
  const { security: _, ...open } = anyMethod(names, options) as { readonly security: unknown };
  return { options: { ...open, responses: { "204": { description: "The origins that may call." } } } };
}
