import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { handle } from "hono/aws-lambda";
import { createTokenStore } from "../../../adapters/files/token-store";
import { createApp } from "../../../api/app";
import { createTransferApp } from "../../../api/mlflow/artifacts/transfer-app";
import { listen, portOf } from "../../../local/listen";
import { createApiServer } from "../../../stack/api-server";
import { transferRoutes } from "../../../stack/api-transfers";
import { createTestPlatform, startEmbedded } from "../../support/embedded";
import type { MlflowServer } from "./server";

export async function startOurs(): Promise<MlflowServer> {
  const embedded = await startEmbedded();
  // Times are held against the wall clock's, as MLflow's are.
  const platform = createTestPlatform(embedded, { now: () => Date.now() }).platform;
  const data = mkdtempSync(join(tmpdir(), "mlflow-ours-"));
  const handler = handle(createApp(platform));
  const server = createApiServer(handler as unknown as Parameters<typeof createApiServer>[0], createTokenStore(data), {
    transfers: transferRoutes(createTransferApp(platform)),
  });
  await listen(server, 0, "");
  return {
    base: `http://127.0.0.1:${portOf(server)}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      await embedded.stop();
      rmSync(data, { recursive: true, force: true });
    },
  };
}
