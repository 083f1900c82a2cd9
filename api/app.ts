import type { Hono } from "hono";
import type { Deployment } from "../adapters/platform";
import { type AppOptions, frameApp } from "./frame";
import type { ApiEnvironment } from "./http/context";
import { mlflowOperations } from "./mlflow/operations";
import { routes } from "./routes";

export function createApp(deployment: Deployment, options: AppOptions = {}): Hono<ApiEnvironment> {
  return frameApp(deployment, routes, { mlflow: mlflowOperations, ...options });
}
