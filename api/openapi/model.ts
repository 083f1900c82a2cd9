import type { Scope } from "../../core/access/tokens";
import type { Repeatability } from "../operation";

/** The parts of OpenAPI 3.1 (spec.openapis.org/oas/v3.1.1) that the document uses. */

/** JSON Schema 2020-12, which OpenAPI 3.1 accepts unchanged. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

export interface Reference {
  readonly $ref: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
  readonly example?: unknown;
  readonly schema: JsonSchema;
}

export interface MediaType {
  readonly schema?: JsonSchema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly summary?: string; readonly value: unknown }>>;
}

export interface Header {
  readonly description: string;
  readonly required?: boolean;
  readonly schema: JsonSchema;
}

export interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header | Reference>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters: readonly (Parameter | Reference)[];
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, MediaType>> };
  readonly responses: Readonly<Record<string, ResponseObject | Reference>>;
  /** Extensions of OpenAPI for clients and the gateway. */
  readonly "x-ringmaster": {
    readonly class: "read" | "write" | "heavy";
    readonly scope: Scope;
    readonly function: "api" | "stream-metrics";
    readonly repeatable: Repeatability;
    /** The array in the response that continues with `nextToken`. */
    readonly pages?: string;
  };
}

export type PathItem = Readonly<Record<string, Operation>>;

export interface OpenApiDocument {
  readonly openapi: "3.1.0";
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly summary: string;
    readonly description: string;
    readonly license: { readonly name: string; readonly identifier: string };
  };
  readonly servers: readonly {
    readonly url: string;
    readonly description: string;
    readonly variables?: Readonly<Record<string, { readonly default: string }>>;
  }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly headers: Readonly<Record<string, Header>>;
    readonly responses: Readonly<Record<string, ResponseObject>>;
    readonly securitySchemes: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  };
}
