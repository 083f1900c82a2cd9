import type { Hono } from "hono";
import type { Deployment } from "../../../adapters/platform";
import { frameApp } from "../../frame";
import type { ApiEnvironment } from "../../http/context";
import { artifactOperations } from ".";

export function createTransferApp(deployment: Deployment): Hono<ApiEnvironment> {
  return frameApp(deployment, [], { mlflow: artifactOperations("stream"), streamedBodies: true });
}
