import type { EventBridgeEvent } from "aws-lambda";
import { createShardSource } from "../../adapters/duckdb/shard-source";
import { withDuckDb } from "../../adapters/duckdb/workspace";
import { datasets } from "../../adapters/dynamodb/dataset-repository";
import { inferenceLog } from "../../adapters/dynamodb/inference-log";
import { registryReads } from "../../adapters/dynamodb/model-repository";
import { monitorIndex, monitors } from "../../adapters/dynamodb/monitor-repository";
import { platformEvents } from "../../adapters/eventbridge/platform-events";
import { teamObjects } from "../../adapters/s3/object-store";
import { evaluateMonitor, publishWindow } from "../../core/monitors/evaluate";
import type { MonitorDue } from "../../core/monitors/ports";
import { functionHandler } from "../function-handler";

/** Time that is reserved for the last measurement. */
const reserveMs = 5 * 60_000;

type MonitorEvent = EventBridgeEvent<"Scheduled Event", unknown> | EventBridgeEvent<"Monitor Due", MonitorDue>;

/** Measures the windows of a monitor; the sweep visits all monitors, and publishes events that were lost. */
export const handler = functionHandler(
  {
    shared: { monitorIndex: monitorIndex("list"), events: platformEvents("publish") },
    team: {
      monitors: monitors("read", "write"),
      inferences: inferenceLog("read"),
      registry: registryReads(),
      datasets: datasets("read", "resolve"),
      objects: teamObjects("read", "write"),
    },
  },
  async ({ monitorIndex, forTeam, logger }, event: MonitorEvent, context) => {
    const evaluate = async (team: string, monitor: string): Promise<void> => {
      const ports = forTeam(team);
      const windows = await evaluateMonitor(
        {
          ...ports,
          withRows: (manifest, work) =>
            withDuckDb((session) => work(createShardSource(session, ports.objects, manifest))),
        },
        monitor,
      );
      for (const { window, severity, rows } of windows)
        logger.log("info", "window measured", { team, monitor, window, severity, rows });
    };
    if (event["detail-type"] === "Monitor Due") {
      await evaluate(event.detail.team, event.detail.monitor);
      return;
    }
    const attempt = async (what: Readonly<Record<string, unknown>>, work: () => Promise<void>) =>
      work().catch((error: unknown) => logger.log("error", "cannot visit a monitor", { ...what, error }));
    for (const lost of await monitorIndex.unpublished()) {
      await attempt(lost, async () => {
        const ports = forTeam(lost.team);
        const window = await ports.monitors.findWindow(lost.monitor, lost.window);
        if (window) await publishWindow(ports, window);
      });
    }
    for (const one of await monitorIndex.monitors()) {
      if (context.getRemainingTimeInMillis() < reserveMs) break;
      await attempt(one, () => evaluate(one.team, one.monitor));
    }
  },
);
