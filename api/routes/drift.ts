import type { Platform } from "../../adapters/platform";
import { logInferences } from "../../core/drift/inference-log";
import {
  createMonitor,
  deleteMonitor,
  getMonitor,
  monitorsDue,
  storedRate,
  windowNotFound,
} from "../../core/monitors/lifecycle";
import { storedWindowReport } from "../../core/monitors/shapes";
import { getJsonContent } from "../../core/object-documents";
import { isoTime } from "../../core/ports";
import { defineReplyRoute, defineRoute } from "../http/route";
import * as operations from "../operations/drift";

export const driftRoutes = [
  defineRoute(operations.logInferences, async ({ platform, params: { name }, body: { version, rows } }) => {
    await platform.registry.version(name, version);
    const monitors = await platform.monitors.ofModel(name);
    const rate = storedRate(monitors);
    const logged = await logInferences(platform, { model: name, version }, rows, rate);
    if (logged) {
      const { team, clock } = platform;
      // If the process dies here, the sweep measures the window.
      for (const monitor of monitorsDue(monitors, version, logged.batch)) {
        await platform.runEvents.publishMonitorDue({ at: isoTime(clock), team, monitor });
      }
    }
    return { stored: logged?.batch.rows ?? 0, repeated: logged?.created === false, rate };
  }),

  defineRoute(operations.listInferenceBatches, async ({ platform, params: { name, version }, query }) => {
    await platform.registry.version(name, version);
    const inferences = { model: name, version };
    const [totals, { items, nextToken }] = await Promise.all([
      platform.inferences.totals(inferences),
      platform.inferences.list(inferences, query),
    ]);
    return { totals, batches: [...items], nextToken };
  }),

  defineReplyRoute(operations.createMonitor, async ({ platform, body, actor }) => {
    const created = await createMonitor(platform, body, actor);
    return { status: created.created ? 201 : 200, body: created };
  }),

  defineRoute(operations.listMonitors, ({ platform: { monitors }, query }) => monitors.list(query)),

  defineRoute(operations.getMonitor, async ({ platform: { monitors }, params: { monitor } }) => ({
    monitor: await getMonitor(monitors, monitor),
  })),

  defineRoute(operations.deleteMonitor, async ({ platform, params: { monitor } }) => ({
    monitor: await deleteMonitor(platform, monitor),
  })),

  defineRoute(operations.listMonitorWindows, async ({ platform: { monitors }, params: { monitor }, query }) => {
    await getMonitor(monitors, monitor);
    return monitors.listWindows(monitor, query);
  }),

  defineRoute(operations.getMonitorWindow, ({ platform, params: { monitor, window } }) =>
    readWindow(platform, monitor, window),
  ),
];

export async function readWindow({ monitors, objects }: Platform, name: string, number: number) {
  await getMonitor(monitors, name);
  const window = await monitors.findWindow(name, number);
  if (!window) throw windowNotFound(name, number);
  const { sha256 } = window.report;
  return { window, report: await getJsonContent(objects, sha256, storedWindowReport) };
}
