import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { createApp } from "../../api/app";
import { type CliResult, runCli } from "./cli";
import { startServer } from "./web-server";

export async function cliOverApp(app: ReturnType<typeof createApp>) {
  const server = await startServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const headers = Object.entries(request.headers).flatMap(([name, value]) =>
      typeof value === "string" ? [[name, value] as [string, string]] : [],
    );
    const body = chunks.length === 0 ? undefined : Buffer.concat(chunks);
    const answer = await app.request(request.url ?? "/", { method: request.method, headers, body });
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (!answer.body) return void response.end();
    await pipeline(Readable.fromWeb(answer.body as never), response).catch(() => undefined);
  });
  return {
    run: (...args: readonly string[]): Promise<CliResult> => runCli(["--api", server.endpoint, ...args]),
    stop: () => server.close(),
  };
}
