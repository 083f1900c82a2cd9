import type { Hono } from "hono";
import type { Deployment } from "../../adapters/platform";
import { type AppOptions, frameApp } from "../../api/frame";
import type { ApiEnvironment } from "../../api/http/context";
import { metricsRoute } from "../../api/routes/run-metrics";

/** The one operation whose answer is streamed, in the API's own frame. */
export function createStreamApp(deployment: Deployment, options: AppOptions = {}): Hono<ApiEnvironment> {
  return frameApp(deployment, [metricsRoute], options);
}
