import type { Hono } from "hono";
import type { Deployment } from "../../../adapters/platform";
import { type AppOptions, frameApp } from "../../frame";
import type { ApiEnvironment } from "../../http/context";
import { artifactOperations } from ".";

/** The operations on artifacts' files where bodies and answers are streams, in the API's own frame. */
export function createTransferApp(deployment: Deployment, options: AppOptions = {}): Hono<ApiEnvironment> {
  return frameApp(deployment, [], { ...options, mlflow: artifactOperations("stream"), streamedBodies: true });
}
