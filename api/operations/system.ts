import * as z from "zod";
import { operationsFor, response } from "../operation";

const operation = operationsFor("System");

export const getHealth = operation("getHealth", "GET /health", {
  summary: "Check whether the API answers",
  responses: {
    200: response("It does.", z.object({ status: z.literal("ok"), prefix: z.string() }).meta({ id: "Health" })),
  },
});

export const getOpenApiDocument = operation("getOpenApiDocument", "GET /openapi.json", {
  summary: "Get this description",
  responses: {
    200: response("OpenAPI 3.1.", z.looseObject({ openapi: z.string() }).meta({ id: "OpenApiDocument" })),
  },
});

export const getDocumentation = operation("getDocumentation", "GET /docs", {
  summary: "Read this description as a page",
  responses: { 200: { description: "A self-contained page.", content: ["text/html"] } },
});
