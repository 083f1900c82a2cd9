import { type MlflowOperation, rawOperation } from "./operation";

/** Whose protocol this is: what `/version` answers, and what the contract tests hold it against. */
export const mlflowVersion = "3.17.2";

/** What clients ask of the server itself. */
export const serverOperations: readonly MlflowOperation[] = [
  // Clients look here whether the server has workspaces and transfers in parts. A database stands behind it, as far as they care.
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
