import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import type { APIGatewayProxyEvent } from "aws-lambda";
import type { Hono } from "hono";
import type { ApiEnvironment } from "../api/http/context";

/**
 * The routes for files that pass through the API itself. A function on AWS can neither receive nor return large files.
 * The local API streams files of any size.
 */
export interface TransferRoutes {
  take(method: string, url: string): boolean;
  answer(request: IncomingMessage, event: APIGatewayProxyEvent, response: ServerResponse): Promise<void>;
}

const files = /^\/(?:ajax-)?api\/2\.0\/mlflow-artifacts\/artifacts\//;
const uploads = /^\/(?:ajax-)?api\/2\.0\/mlflow\/upload-artifact(?:\?|$)/;
const reads =
  /^\/(?:(?:ajax-)?api\/2\.0\/mlflow\/logged-models\/[^/?]+\/artifacts\/files|(?:model-versions\/)?get-artifact)(?:\?|$)/;

/**
 * Creates the routes for file transfers.
 * @param app whose handlers receive and return bodies as streams
 */
export function transferRoutes(app: Hono<ApiEnvironment>): TransferRoutes {
  return {
    take: (method, url) =>
      method === "PUT" || method === "HEAD"
        ? files.test(url)
        : method === "POST"
          ? uploads.test(url)
          : method === "GET" && (files.test(url) || reads.test(url)),

    async answer(request, event, response) {
      const headers = Object.entries(event.headers).filter(
        (header): header is [string, string] => header[1] !== undefined,
      );
      const bodied = request.method !== "GET" && request.method !== "HEAD";
      const apiRequest = new Request(`http://${event.requestContext.domainName}${request.url}`, {
        method: request.method,
        headers,
        ...(bodied ? { body: Readable.toWeb(request) as ReadableStream<Uint8Array>, duplex: "half" } : {}),
      } as RequestInit);
      const answer = await app.fetch(apiRequest, { event });
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      if (!answer.body) response.end();
      // Rejects when the client disconnects. There is nobody left to report it to.
      else await pipeline(Readable.fromWeb(answer.body as ReadableStream<Uint8Array>), response).catch(() => undefined);
      // Reads and drops the rest of the body. Otherwise it would be parsed as the connection's next request.
      if (!request.complete) request.removeAllListeners("data").resume();
    },
  };
}
