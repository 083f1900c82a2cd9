import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { APIGatewayProxyEvent } from "aws-lambda";
import { contracts } from "../api/contracts";
import type { createStreamApp } from "../lambdas/stream-metrics/app";

/** The routes that a function with a streamed answer has, on AWS and here. */
export interface StreamedRoutes {
  take(event: Pick<APIGatewayProxyEvent, "httpMethod" | "path">): boolean;
  /** Each piece leaves as it is written; a client that goes ends the stream behind it. */
  answer(event: APIGatewayProxyEvent, response: ServerResponse): Promise<void>;
}

/** As the gateway does it: by the contracts that name the function. */
export function streamedRoutes(app: ReturnType<typeof createStreamApp>): StreamedRoutes {
  const routes = contracts
    .filter((contract) => contract.function === "stream-metrics")
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
      // Headers go out before the first event, which may be long in coming.
      response.flushHeaders();
      // Rejects where the client hangs up, and has cancelled the body by then: that is how a stream is meant to end.
      await pipeline(Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]), response).catch(
        () => undefined,
      );
    },
  };
}
