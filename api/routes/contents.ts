import { RingmasterError } from "../../core/errors";
import { objectKeys } from "../../core/object-keys";
import { defineRoute } from "../http/route";
import * as operations from "../operations/contents";

export const contentRoutes = [
  defineRoute(operations.createUploads, async ({ platform: { objects, contentUrls }, body: { contents } }) => {
    const targets = await Promise.all(
      contents.map(async (content) => {
        if ((await objects.hasContent(content)) && (await objects.claimContent(content.sha256)) !== undefined) {
          return undefined;
        }
        return { sha256: content.sha256, ...(await contentUrls.forUpload(content)) };
      }),
    );
    return { missing: targets.filter((target) => target !== undefined) };
  }),

  defineRoute(operations.getContentUrl, async ({ platform: { objects, contentUrls }, params: { sha256 } }) => {
    if ((await objects.size(objectKeys.content(sha256))) === undefined) {
      throw new RingmasterError(
        `the content store has no content with SHA-256 ${sha256}; check the digest, or upload the content (POST /uploads)`,
        {
          code: "CONTENT_NOT_FOUND",
          httpStatus: 404,
        },
      );
    }
    return { url: await contentUrls.forDownload(sha256) };
  }),
];
