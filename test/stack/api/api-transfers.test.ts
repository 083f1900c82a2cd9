import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Hono } from "hono";
import { createTokenStore } from "../../../adapters/files/token-store";
import type { ApiEnvironment } from "../../../api/http/context";
import { listen, portOf } from "../../../local/listen";
import { createApiServer } from "../../../stack/api-server";
import { transferRoutes } from "../../../stack/api-transfers";

/** Requests that pass through the local API as a stream. All others are read completely, up to the gateway's limit. */
it.each([
  ["PUT", "/api/2.0/mlflow-artifacts/artifacts/0/run/artifacts/f", true],
  ["PUT", "/ajax-api/2.0/mlflow-artifacts/artifacts/f", true],
  ["GET", "/api/2.0/mlflow-artifacts/artifacts/f", true],
  ["HEAD", "/api/2.0/mlflow-artifacts/artifacts/f", true],
  ["GET", "/get-artifact?run_id=r&path=f", true],
  ["GET", "/model-versions/get-artifact?name=n", true],
  ["GET", "/ajax-api/2.0/mlflow/logged-models/m-1/artifacts/files?artifact_file_path=f", true],
  ["POST", "/ajax-api/2.0/mlflow/upload-artifact?run_uuid=r&path=f", true],
  ["GET", "/api/2.0/mlflow-artifacts/artifacts?path=d", false],
  ["DELETE", "/api/2.0/mlflow-artifacts/artifacts/f", false],
  ["POST", "/api/2.0/mlflow-artifacts/mpu/create/d", false],
  ["GET", "/api/2.0/mlflow-artifacts/presigned/f", false],
  ["GET", "/api/2.0/mlflow/artifacts/list?run_id=r", false],
  ["POST", "/api/2.0/mlflow/runs/log-batch", false],
  ["PUT", "/api/v1/models/m/policy", false],
])("%s %s: %s", (method, url, taken) => {
  expect(transferRoutes(new Hono<ApiEnvironment>()).take(method, url)).toBe(taken);
});

describe("a body that is refused before its end", () => {
  it("does not keep the next request of the connection waiting", async () => {
    const refusing = new Hono<ApiEnvironment>();
    refusing.put("*", (context) => context.text("no", 400));
    const data = mkdtempSync(join(tmpdir(), "ringmaster-transfers-"));
    const handler = async () => ({ statusCode: 200, headers: {}, body: "next" });
    const server = createApiServer(handler as never, createTokenStore(data), { transfers: transferRoutes(refusing) });
    await listen(server, 0, "");
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const send = (method: string, path: string, body?: Buffer): Promise<string> =>
      new Promise((answered, failed) => {
        const sent = request({ agent, port: portOf(server), host: "127.0.0.1", method, path }, async (response) => {
          let text = "";
          for await (const chunk of response) text += chunk;
          answered(text);
        });
        sent.on("error", failed);
        sent.end(body);
      });
    try {
      const file = "/api/2.0/mlflow-artifacts/artifacts/f";
      for (const bytes of [10, 100_000, 5_000_000]) {
        expect(await send("PUT", file, Buffer.alloc(bytes))).toBe("no");
        expect(await send("GET", "/api/v1/models")).toBe("next");
      }
      expect(await send("POST", "/api/v1/models", Buffer.alloc(11_000_000))).toContain("BODY_TOO_LARGE");
      expect(await send("POST", "/api/v1/%2e%2e/models", Buffer.alloc(11_000_000))).toContain("INVALID_INPUT");
      expect(await send("GET", "/api/v1/models")).toBe("next");
    } finally {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      rmSync(data, { recursive: true });
    }
  });
});
