import type { Hono } from "hono";
import { metrics } from "../../adapters/dynamodb/metric-store";
import { runReads } from "../../adapters/dynamodb/run-steps";
import type { Deployment as ApiDeployment } from "../../adapters/platform";
import type { Deployment } from "../../adapters/port";
import { type AppOptions, frameApp } from "../../api/frame";
import type { ApiEnvironment } from "../../api/http/context";
import { metricsRoute } from "../../api/routes/run-metrics";

/** The ports of the one operation whose answer is streamed. */
export const streamPorts = { shared: {}, team: { runs: runReads(), metrics: metrics("read") } } as const;

type StreamDeployment = Deployment<typeof streamPorts.shared, typeof streamPorts.team>;

/** Creates the app of the one operation whose answer is streamed, in the API's own frame. */
export function createStreamApp(deployment: StreamDeployment, options: AppOptions = {}): Hono<ApiEnvironment> {
  // Routes are declared on all ports of the API; this one uses no others than the stream's.
  return frameApp(deployment as unknown as ApiDeployment, [metricsRoute], options);
}
