import { isoTime } from "../../../core/ports";
import { invalidParameter, MlflowError } from "../errors";
import { integer, list, message, required, text } from "../fields";
import { type MlflowOperation, operation, rawOperation } from "../operation";
import { downloadUri } from "../registry/download-uri";
import { findVersion } from "../registry/messages";
import { findRun } from "../tracking/ports";
import {
  baseName,
  joined,
  listFiles,
  placeOf,
  placeOfUri,
  type StoredPlace,
  safeFilePath,
  safePath,
  writable,
} from "./places";
import { pathBehind, proxiedArtifacts } from "./proxied";
import { attachment, type Delivery, findFile, mediaTypeOf, sendFile } from "./send-file";

/** Maximum size of an `upload-artifact`, which a browser sends. */
const maxUploadBytes = 10 * 1024 * 1024;
const maxExpirySeconds = 604_800;

function runArtifacts(delivery: Delivery): readonly MlflowOperation[] {
  return [
    operation(
      "GET /mlflow/artifacts/list",
      { run_id: required({ ...text, alias: "run_uuid" }), path: text, page_token: text },
      async ({ platform, fields: { run_id, path } }) => {
        const under = path === undefined ? "" : safePath(path);
        const { artifactUri } = await findRun(platform, run_id);
        const files = await listFiles(platform, await placeOfUri(platform, artifactUri, under), under);
        return { root_uri: artifactUri, files };
      },
    ),

    rawOperation(
      "GET /get-artifact",
      async (context) => {
        const platform = context.get("platform");
        const { run_id, run_uuid, path = "" } = context.req.query();
        const file = safeFilePath(path);
        const { artifactUri } = await findRun(platform, run_id || run_uuid || "");
        return sendFile(context, platform, await placeOfUri(platform, artifactUri, file), delivery);
      },
      "page",
    ),

    rawOperation("POST /mlflow/upload-artifact", async (context) => {
      const platform = context.get("platform");
      const { run_uuid, path } = context.req.query();
      if (!run_uuid) throw invalidParameter("Request must specify run_uuid.");
      if (!path) throw invalidParameter("Request must specify path.");
      const file = safeFilePath(path);
      const body = new Uint8Array(await context.req.arrayBuffer());
      if (body.length === 0) throw invalidParameter("Request must specify data.");
      if (body.length > maxUploadBytes) throw invalidParameter("Artifact size is too large. Max size is 10MB.");
      const { artifactUri } = await findRun(platform, run_uuid);
      const place = writable(await placeOfUri(platform, artifactUri, file));
      const contentType = mediaTypeOf(baseName(file));
      const content = await platform.objects.putContent(body, contentType);
      const updatedAt = isoTime(platform.clock);
      const { owner, path: name, folder } = place;
      await platform.artifacts.put(owner, [{ ...content, path: name, contentType, updatedAt }], folder);
      return context.json({});
    }),

    operation(
      "POST /mlflow/artifacts/presigned-upload-url",
      { run_id: text, model_id: text, path: required(text), expiration: integer },
      async ({ platform, fields: { run_id = "", model_id = "", path } }) => {
        if ((run_id === "") === (model_id === "")) {
          throw invalidParameter("Exactly one of run_id and model_id must be provided.");
        }
        safePath(path);
        if (run_id !== "") await findRun(platform, run_id);
        throw onlyProxied("upload");
      },
    ),

    operation(
      "POST /mlflow/artifacts/presigned-download-url",
      { run_id: required(text), path: required(text), expiration: integer },
      async ({ platform, fields: { run_id, path, expiration = 300 } }) => {
        safePath(path);
        if (expiration < 1 || expiration > maxExpirySeconds) {
          throw invalidParameter(`expiration must be between 1 and ${maxExpirySeconds} seconds (got ${expiration}).`);
        }
        await findRun(platform, run_id);
        throw onlyProxied("download");
      },
    ),
  ];
}

/** Refuses presigned URLs for clients that access the bucket directly. */
function onlyProxied(what: "upload" | "download"): Error {
  return invalidParameter(
    `Presigned ${what} is not supported for proxied artifact storage (artifact URI scheme: mlflow-artifacts): use /api/2.0/mlflow-artifacts/${what === "upload" ? "mpu/create" : "presigned"}`,
  );
}

function modelArtifacts(delivery: Delivery): readonly MlflowOperation[] {
  return [
    rawOperation("GET /mlflow/logged-models/{model_id}/artifacts/files", async (context) => {
      const platform = context.get("platform");
      const path = context.req.query("artifact_file_path");
      if (!path) {
        throw new MlflowError("BAD_REQUEST", 'Request must include the "artifact_file_path" query parameter.');
      }
      const file = safeFilePath(path);
      const modelId = context.req.param("model_id") ?? "";
      const model = await platform.loggedModels.find(modelId);
      if (model?.lifecycle !== "active") {
        throw new MlflowError("RESOURCE_DOES_NOT_EXIST", `Logged model with ID '${modelId}' not found.`);
      }
      return sendFile(context, platform, await placeOfUri(platform, model.artifactLocation, file), delivery);
    }),

    rawOperation(
      "GET /model-versions/get-artifact",
      async (context) => {
        const platform = context.get("platform");
        const { name = "", version = "", path = "" } = context.req.query();
        const file = safeFilePath(path);
        const uri = await downloadUri(platform, (await findVersion(platform, name, version)).version);
        return sendFile(context, platform, await placeOfUri(platform, uri, file), delivery);
      },
      "page",
    ),
  ];
}

/** Maximum number of parts whose URLs fit in one response of 6 MB. */
const maxParts = 3_000;
/** `MLFLOW_PRESIGNED_DOWNLOAD_URL_TTL_SECONDS` */
const downloadSeconds = 300;

/**
 * Transfers of large files directly to and from the store. Clients of 3.17 use them because `server-info` offers them.
 */
const multipartArtifacts: readonly MlflowOperation[] = [
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

export function artifactOperations(delivery: Delivery): readonly MlflowOperation[] {
  return [...proxiedArtifacts(delivery), ...multipartArtifacts, ...runArtifacts(delivery), ...modelArtifacts(delivery)];
}
