import { isoTime } from "../../../core/ports";
import { invalidParameter } from "../errors";
import { integer, list, message, required, text } from "../fields";
import { type MlflowOperation, operation, rawOperation } from "../operation";
import { attachment, mediaTypeOf } from "./media-types";
import { placeOf, type StoredPlace, writable } from "./places";
import { pathBehind } from "./proxied";
import { baseName, joined, safeFilePath, safePath } from "./safe-path";
import { findFile } from "./send-file";

/** Maximum number of parts whose URLs fit in one response of 6 MB. */
const maxParts = 3_000;
/** `MLFLOW_PRESIGNED_DOWNLOAD_URL_TTL_SECONDS` */
const downloadSeconds = 300;

/**
 * Transfers of large files directly to and from the store. Clients of 3.17 use them because `server-info` offers them.
 */
export const multipartArtifacts: readonly MlflowOperation[] = [
  operation(
    "POST /mlflow-artifacts/mpu/create/*",
    { path: required(text), num_parts: integer },
    async ({ platform, context, fields: { path, num_parts = 1 } }) => {
      const place = await targetOf(platform, pathBehind(context, "/mlflow-artifacts/mpu/create"), path);
      await platform.artifacts.checkWritable(place.owner, place.path);
      if (num_parts < 1 || num_parts > maxParts) {
        throw invalidParameter(
          `Invalid value ${num_parts} for parameter 'num_parts' supplied: it must be from 1 to ${maxParts}; with a larger MLFLOW_MULTIPART_UPLOAD_CHUNK_SIZE there are fewer`,
        );
      }
      const { upload, urls } = await platform.incoming.begin(num_parts);
      return {
        upload_id: upload,
        credentials: urls.map((url, i) => ({ url, part_number: i + 1 })),
      };
    },
  ),

  operation(
    "POST /mlflow-artifacts/mpu/complete/*",
    {
      path: required(text),
      upload_id: text,
      parts: required(list(message({ part_number: integer, etag: text, url: text }))),
    },
    async ({ platform, context, fields: { path, upload_id = "", parts } }) => {
      const place = await targetOf(platform, pathBehind(context, "/mlflow-artifacts/mpu/complete"), path);
      const { owner, path: name, folder } = place;
      const content = await platform.incoming.complete(
        upload_id,
        parts.map(({ part_number = 0, etag = "" }) => ({ number: part_number, etag })),
      );
      const contentType = mediaTypeOf(baseName(name));
      const updatedAt = isoTime(platform.clock);
      await platform.artifacts.put(owner, [{ ...content, path: name, contentType, updatedAt }], folder);
      return undefined;
    },
  ),

  operation(
    "POST /mlflow-artifacts/mpu/abort/*",
    { path: required(text), upload_id: text },
    async ({ platform, context, fields: { path, upload_id = "" } }) => {
      await targetOf(platform, pathBehind(context, "/mlflow-artifacts/mpu/abort"), path);
      await platform.incoming.abort(upload_id);
      return undefined;
    },
  ),

  rawOperation("GET /mlflow-artifacts/presigned/*", async (context) => {
    const platform = context.get("platform");
    const place = await placeOf(platform, safePath(pathBehind(context, "/mlflow-artifacts/presigned")));
    const file = await findFile(platform, place);
    const name = baseName(file.path);
    const url = await platform.contentUrls.forDownload(file.sha256, {
      contentType: mediaTypeOf(name),
      disposition: attachment(name),
      seconds: downloadSeconds,
    });
    return context.json({ url, headers: {}, file_size: file.bytes });
  }),
];

/** Returns the place of an upload: a directory under the root, and the last part of the client's file name. */
async function targetOf(
  platform: Parameters<typeof placeOf>[0],
  directory: string,
  file: string,
): Promise<StoredPlace> {
  const place = writable(await placeOf(platform, safeFilePath(joined(safePath(directory), baseName(file)))));
  safeFilePath(place.path);
  return place;
}
