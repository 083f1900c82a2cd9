// Made from docs/api/openapi.json by `npm run api`. Do not edit.

export interface Health {
  readonly status: "ok";
  readonly prefix: string;
}

export interface OpenApiDocument {
  readonly openapi: string;
  readonly [others: string]: unknown;
}
