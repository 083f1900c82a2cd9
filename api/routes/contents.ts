import { RingmasterError } from "../../core/errors";
import { objectKeys } from "../../core/object-keys";
import * as contracts from "../contracts/contents";
import { defineRoute } from "../http/route";

export const contentRoutes = [
  defineRoute(contracts.createUploads, async ({ platform: { objects, contentUrls }, body: { contents } }) => {
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

  defineRoute(contracts.getContentUrl, async ({ platform: { objects, contentUrls }, params: { sha256 } }) => {
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
