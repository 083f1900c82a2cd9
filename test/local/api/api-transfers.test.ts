import { Hono } from "hono";
import type { ApiEnvironment } from "../../../lambdas/api/context";
import { transferRoutes } from "../../../local/api-transfers";

/** What goes through the API of one machine as a stream; all else is read whole, up to the gateway's limit. */
it.each([
  ["PUT", "/api/2.0/mlflow-artifacts/artifacts/0/run/artifacts/f", true],
  ["PUT", "/ajax-api/2.0/mlflow-artifacts/artifacts/f", true],
  ["GET", "/api/2.0/mlflow-artifacts/artifacts/f", true],
  ["HEAD", "/api/2.0/mlflow-artifacts/artifacts/f", true],
  ["GET", "/get-artifact?run_id=r&path=f", true],
  ["GET", "/model-versions/get-artifact?name=n", true],
  ["GET", "/ajax-api/2.0/mlflow/logged-models/m-1/artifacts/files?artifact_file_path=f", true],
  ["POST", "/ajax-api/2.0/mlflow/upload-artifact?run_uuid=r&path=f", true],
  ["GET", "/api/2.0/mlflow-artifacts/artifacts?path=d", false],
  ["DELETE", "/api/2.0/mlflow-artifacts/artifacts/f", false],
  ["POST", "/api/2.0/mlflow-artifacts/mpu/create/d", false],
  ["GET", "/api/2.0/mlflow-artifacts/presigned/f", false],
  ["GET", "/api/2.0/mlflow/artifacts/list?run_id=r", false],
  ["POST", "/api/2.0/mlflow/runs/log-batch", false],
  ["PUT", "/api/v1/models/m/policy", false],
])("%s %s: %s", (method, url, taken) => {
  expect(transferRoutes(new Hono<ApiEnvironment>()).take(method, url)).toBe(taken);
});
