import { z } from "zod";
import { RingmasterError } from "../../../core/errors";
import { objectKeys } from "../../../core/platform/object-keys";
import { createRoutes } from "../context";
import { readBody, readPath } from "../input";

const digest = z.string().regex(/^[0-9a-f]{64}$/, "must be a lower-case hex SHA-256");

const uploadBody = z.strictObject({
  contents: z
    .array(
      z.strictObject({
        sha256: digest,
        bytes: z
          .int()
          .min(0)
          .max(5 * 1024 ** 3),
      }),
    )
    .min(1)
    .max(1_000),
});

export const uploadRoutes = createRoutes();

/** Which of these contents are missing, each with a URL to put it to; the store checks the digest as it comes in. */
uploadRoutes.post("/uploads", async (context) => {
  const { contents } = await readBody(context, uploadBody);
  const { objects, contentUrls } = context.get("platform");
  const missing = await Promise.all(
    contents.map(async (content) => {
      const size = await objects.size(objectKeys.content(content.sha256));
      return size === undefined
        ? { sha256: content.sha256, ...(await contentUrls.forUpload(content.sha256)) }
        : undefined;
    }),
  );
  return context.json({ missing: missing.filter((upload) => upload !== undefined) });
});

/** A URL to get a content from, for serving and for people. */
uploadRoutes.get("/contents/:sha256", async (context) => {
  const { contentUrls, objects } = context.get("platform");
  const { sha256 } = readPath(context, z.object({ sha256: digest }));
  if ((await objects.size(objectKeys.content(sha256))) === undefined) {
    throw new RingmasterError(`the content store has no ${sha256}`, { code: "CONTENT_NOT_FOUND", httpStatus: 404 });
  }
  return context.json({ url: await contentUrls.forDownload(sha256) });
});
