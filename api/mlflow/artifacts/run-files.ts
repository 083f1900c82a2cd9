import { isoTime } from "../../../core/ports";
import { invalidParameter } from "../errors";
import { integer, required, text } from "../fields";
import { type MlflowOperation, operation, rawOperation } from "../operation";
import { findRun } from "../tracking/ports";
import { listFiles } from "./listing";
import { mediaTypeOf } from "./media-types";
import { placeOfUri, writable } from "./places";
import { baseName, safeFilePath, safePath } from "./safe-path";
import { type Delivery, sendFile } from "./send-file";

/** Maximum size of an `upload-artifact`, which a browser sends. */
const maxUploadBytes = 10 * 1024 * 1024;
const maxExpirySeconds = 604_800;

/** Operations on a run's files: those of `service.proto`, and those of MLflow's pages. */
export function runArtifacts(delivery: Delivery): readonly MlflowOperation[] {
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

/**
 * Refuses presigned URLs for clients that access the bucket directly; `mlflow-artifacts/presigned` and `mpu` are for
 * all clients.
 */
function onlyProxied(what: "upload" | "download"): Error {
  return invalidParameter(
    `Presigned ${what} is not supported for proxied artifact storage (artifact URI scheme: mlflow-artifacts): use /api/2.0/mlflow-artifacts/${what === "upload" ? "mpu/create" : "presigned"}`,
  );
}
