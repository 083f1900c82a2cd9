import type { Hono } from "hono";
import { experiments } from "../../adapters/dynamodb/experiment-repository";
import { metrics } from "../../adapters/dynamodb/metric-store";
import { runReads } from "../../adapters/dynamodb/run-steps";
import type { Deployment } from "../../adapters/port";
import { changes, records } from "../../adapters/team-runs";
import { type AppOptions, frameApp } from "../../api/frame";
import type { ApiEnvironment } from "../../api/http/context";
import { exportRoute } from "../../api/routes/experiment-export";
import { metricsRoute } from "../../api/routes/run-metrics";

export const streamPorts = {
  shared: {},
  team: {
    runs: runReads("find"),
    metrics: metrics("read"),
    records: records("read", "list"),
    changes: changes("read"),
    experiments: experiments("read"),
  },
} as const;

type StreamDeployment = Deployment<typeof streamPorts.shared, typeof streamPorts.team>;

export function createStreamApp(deployment: StreamDeployment, options: AppOptions = {}): Hono<ApiEnvironment> {
  return frameApp(deployment, [metricsRoute, exportRoute], options);
}
