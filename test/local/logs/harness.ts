import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { CloudWatchLogs } from "@aws-sdk/client-cloudwatch-logs";
import { createLogs } from "../../../local/logs";
import type { LogAppender } from "../../../local/service";
import { startServer } from "../../support/web-server";

export interface RunningLogs {
  readonly client: CloudWatchLogs;
  readonly logs: LogAppender;
  readonly directory: string;
  close(): Promise<void>;
}

export async function startLogs(
  options: { readonly directory?: string; readonly now?: () => number } = {},
): Promise<RunningLogs> {
  const directory = options.directory ?? temporaryDirectory();
  const logs = await createLogs({ dataDirectory: directory, clock: { now: options.now ?? Date.now } });
  const server = await startServer((request, response) => void logs.handle(request, response));
  const client = new CloudWatchLogs({
    endpoint: server.endpoint,
    region: "us-east-1",
    credentials: { accessKeyId: "a", secretAccessKey: "b" },
    maxAttempts: 1,
  });
  return {
    client,
    logs,
    directory,
    close: async () => {
      client.destroy();
      await server.close();
      await logs.close();
      if (!options.directory) fs.rmSync(directory, { recursive: true, force: true });
    },
  };
}

export function temporaryDirectory(): string {
  return fs.mkdtempSync(path.join(os.tmpdir(), "logs-"));
}
