import { z } from "zod";
import { objectKeys } from "../../../core/platform/object-keys";
import { createRoutes } from "../context";
import { readBody } from "../input";

const uploadBody = z.strictObject({
  contents: z
    .array(
      z.strictObject({
        sha256: z.string().regex(/^[0-9a-f]{64}$/, "must be a lower-case hex SHA-256"),
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
  const { contentUrls } = context.get("platform");
  return context.json({ url: await contentUrls.forDownload(context.req.param("sha256")) });
});
