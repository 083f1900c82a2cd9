import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { S3 } from "@aws-sdk/client-s3";
import type { Clock } from "../../../core/ports";
import { createS3 } from "../../../local/s3";
import type { ContentRule } from "../../../local/s3/call";
import type { EmittedEvent } from "../../../local/service";
import { startServer } from "../../support/web-server";
import type { Target } from "./contract/target";

export interface RunningS3 extends Target {
  readonly directory: string;
  readonly events: EmittedEvent[];
  close(): Promise<void>;
}

/** Starts the service with a bare HTTP server, in a new directory unless one is given. */
export async function startS3(
  options: { readonly directory?: string; readonly clock?: Clock; readonly contentDigest?: ContentRule } = {},
): Promise<RunningS3> {
  const directory = options.directory ?? temporaryDirectory();
  const events: EmittedEvent[] = [];
  const service = await createS3({
    dataDirectory: directory,
    events: { put: (event) => void events.push(event) },
    ...(options.clock ? { clock: options.clock } : {}),
    ...(options.contentDigest ? { contentDigest: options.contentDigest } : {}),
  });
  const server = await startServer((request, response) => void service.handle(request, response));
  const { endpoint } = server;
  const credentials = { accessKeyId: "anyone", secretAccessKey: "anything" };
  const client = new S3({ endpoint, region: "us-east-1", credentials });
  return {
    name: "embedded S3",
    endpoint,
    client,
    directory,
    events,
    close: async () => {
      client.destroy();
      await server.close();
      await service.close();
      if (!options.directory) fs.rmSync(directory, { recursive: true, force: true });
    },
  };
}

export function temporaryDirectory(): string {
  return fs.mkdtempSync(path.join(os.tmpdir(), "s3-"));
}
