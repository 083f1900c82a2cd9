import * as z from "zod";
import { sha256 } from "../../core/shapes";
import { examples } from "../examples";
import { operationsFor, response } from "../operation";

const operation = operationsFor("Contents");

export const createUploads = operation("createUploads", "POST /uploads", {
  summary: "Get URLs to upload the contents that the store lacks",
  description:
    "PUT each to its URL with the given headers; the store checks the digest. A URL is valid for 15 minutes.",
  body: z
    .strictObject({
      contents: z
        .array(
          z.strictObject({
            sha256,
            bytes: z
              .int()
              .min(0)
              .max(5 * 1024 ** 3),
          }),
        )
        .min(1)
        .max(1_000),
    })
    .meta({ id: "UploadRequest" }),
  bodyExample: { contents: [examples.content] },
  idempotent: true,
  class: "heavy",
  responses: {
    200: response(
      "The missing contents. Other contents need no upload.",
      z
        .object({
          missing: z.array(
            z
              .object({ sha256, url: z.string(), headers: z.record(z.string(), z.string()) })
              .meta({ id: "UploadTarget", description: "PUT the content to `url` with exactly these headers." }),
          ),
        })
        .meta({ id: "UploadTargets" }),
    ),
  },
});

export const getContentUrl = operation("getContentUrl", "GET /contents/{sha256}", {
  summary: "Get a URL to download a content",
  params: z.strictObject({ sha256 }),
  responses: {
    200: response("Lives 15 minutes.", z.object({ url: z.string() }).meta({ id: "ContentUrl" })),
  },
  errors: ["CONTENT_NOT_FOUND"],
});
