import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { APIGatewayProxyEvent } from "aws-lambda";
import { allOperations } from "../api/operations";
import type { createStreamApp } from "../lambdas/stream-metrics/app";

/** The routes of the function that streams its answers, on AWS and locally. */
export interface StreamedRoutes {
  take(event: Pick<APIGatewayProxyEvent, "httpMethod" | "path">): boolean;
  /** Writes each piece when it is available. The stream ends when the client disconnects. */
  answer(event: APIGatewayProxyEvent, response: ServerResponse): Promise<void>;
}

/** Creates the streamed routes from the operations that name the streaming function, as API Gateway does. */
export function streamedRoutes(app: ReturnType<typeof createStreamApp>): StreamedRoutes {
  const routes = allOperations
    .filter((operation) => operation.function === "stream-metrics")
    .map(({ method, path }) => ({ method, pattern: new RegExp(`^/api/v1${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`) }));

  return {
    take: ({ httpMethod, path }) => routes.some(({ method, pattern }) => method === httpMethod && pattern.test(path)),

    async answer(event, response) {
      const { domainName } = event.requestContext;
      const url = new URL(`http://${domainName}${event.path}`);
      for (const [name, values] of Object.entries(event.multiValueQueryStringParameters ?? {})) {
        for (const value of values ?? []) url.searchParams.append(name, value);
      }
      const headers = Object.entries(event.headers).filter(
        (header): header is [string, string] => header[1] !== undefined,
      );
      const answer = await app.fetch(new Request(url, { method: event.httpMethod, headers }), { event });
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      if (!answer.body) {
        response.end();
        return;
      }
      // Sends the headers now, because the first event may come much later.
      response.flushHeaders();
      // Rejects when the client disconnects, after it has cancelled the body. This is the normal end of a stream.
      await pipeline(Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]), response).catch(
        () => undefined,
      );
    },
  };
}
