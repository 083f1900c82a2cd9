import { type MlflowOperation, rawOperation } from "./operation";

/** The version of MLflow whose protocol is offered. `/version` returns it, and the contract tests compare with it. */
export const mlflowVersion = "3.17.2";

export const serverOperations: readonly MlflowOperation[] = [
  // Clients read here whether the server supports workspaces and multipart transfers.
  rawOperation(
    "GET /mlflow/server-info",
    (context) =>
      context.json({
        store_type: "SqlStore",
        workspaces_enabled: false,
        trace_archival_enabled: false,
        multipart_uploads_enabled: true,
        multipart_downloads_enabled: true,
        presigned_upload_run_id_supported: true,
        presigned_upload_model_id_supported: true,
        features_enabled: { gateway: false },
      }),
    3,
  ),
];
