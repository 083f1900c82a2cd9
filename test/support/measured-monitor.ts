import type { Platform } from "../../adapters/platform";
import { type DriftReport, defaultThresholds } from "../../core/drift/shapes";
import { createMonitor } from "../../core/monitors/lifecycle";

/** Creates a monitor of a dataset that has measured a window. Returns its name. */
export async function createMeasuredMonitor(platform: Platform, name: string, dataset: string): Promise<string> {
  const { monitors, objects } = platform;
  const definition = { name, target: { type: "dataset", dataset }, thresholds: defaultThresholds } as const;
  const { monitor } = await createMonitor(platform, definition, "test");
  const { version, digest } = (await platform.datasets.findNewest(dataset))!.manifest;
  const reference = { name: dataset, version, digest };
  const report: DriftReport = {
    ...{ baseline: reference, current: reference, thresholds: defaultThresholds, rows: { baseline: 3, current: 3 } },
    ...{ schema: [{ column: "x", change: "added", after: "float", severity: "warning" }], columns: [] },
    severity: "warning",
  };
  const at = monitor.createdAt;
  await monitors.closeWindow({ ...monitor, revision: 2, windows: 1 }, monitor, {
    ...{ monitor: name, window: 1, end: at, version, rows: 3, severity: "warning", drifted: ["x"], evaluatedAt: at },
    ...{ report: await objects.putContent(JSON.stringify(report)), published: true },
  });
  return name;
}
