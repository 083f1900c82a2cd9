import type { Hono } from "hono";
import type { Deployment } from "../../adapters/platform";
import { type AppOptions, frameApp } from "../../api/frame";
import type { ApiEnvironment } from "../../api/http/context";
import { metricsRoute } from "../../api/routes/run-metrics";

/** Creates the app of the one operation with a streamed response. */
export function createStreamApp(deployment: Deployment, options: AppOptions = {}): Hono<ApiEnvironment> {
  return frameApp(deployment, [metricsRoute], options);
}
