import { exportVersion, listExports } from "../export/export-version";
import { defineRoute } from "../http/route";
import * as operations from "../operations/exports";

export const exportRoutes = [
  defineRoute(operations.createExport, async ({ platform, params: { name, version }, body: { format } }) => {
    const row = await platform.registry.version(name, version);
    const tools = async () => (await import("../services/export-tools")).exportTools;
    const { manifest } = await exportVersion(platform, tools, row, format);
    return { export: manifest };
  }),

  defineRoute(operations.listExports, async ({ platform, params: { name, version } }) => ({
    exports: await listExports(platform, await platform.registry.version(name, version)),
  })),
];
