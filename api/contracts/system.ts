import * as z from "zod";
import { contract } from "../contract";

const tag = "System";

export const getHealth = contract({
  operationId: "getHealth",
  method: "GET",
  path: "/health",
  tag,
  summary: "Ask whether the API answers",
  responses: {
    200: {
      description: "It does.",
      schema: z.object({ status: z.literal("ok"), prefix: z.string() }).meta({ id: "Health" }),
      example: { status: "ok", prefix: "ringmaster" },
    },
  },
});

export const getOpenApiDocument = contract({
  operationId: "getOpenApiDocument",
  method: "GET",
  path: "/openapi.json",
  tag,
  summary: "Get this description",
  responses: {
    200: {
      description: "OpenAPI 3.1.",
      schema: z.looseObject({ openapi: z.string() }).meta({ id: "OpenApiDocument" }),
      example: { openapi: "3.1.0" },
    },
  },
});

export const getDocumentation = contract({
  operationId: "getDocumentation",
  method: "GET",
  path: "/docs",
  tag,
  summary: "Read this description as a page",
  responses: { 200: { description: "A self-contained page.", content: ["text/html"] } },
});
