import { MlflowError } from "../errors";
import { type MlflowOperation, rawOperation } from "../operation";
import { downloadUri } from "../registry/download-uri";
import { findVersion } from "../registry/reads";
import { placeOfUri } from "./places";
import { safeFilePath } from "./safe-path";
import { type Delivery, sendFile } from "./send-file";

/** Operations on files of logged models and versions. */
export function modelArtifacts(delivery: Delivery): readonly MlflowOperation[] {
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
