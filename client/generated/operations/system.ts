// Made from docs/api/openapi.json by `npm run api`. Do not edit.

import type { NoInput, OperationCall } from "../../operation";
import type { Health, OpenApiDocument } from "../schemas";

/** What each operation takes and answers. */
export interface SystemOperations {
  /** Ask whether the API answers. */
  readonly getHealth: {
    readonly request: NoInput;
    readonly answer: Health;
    readonly pages: never;
  };
  /** Get this description. */
  readonly getOpenApiDocument: {
    readonly request: NoInput;
    readonly answer: OpenApiDocument;
    readonly pages: never;
  };
}

export const systemOperations: Readonly<Record<keyof SystemOperations, OperationCall>> = {
  getHealth: { method: "GET", path: "/health", repeatable: "always" },
  getOpenApiDocument: { method: "GET", path: "/openapi.json", repeatable: "always" },
};
