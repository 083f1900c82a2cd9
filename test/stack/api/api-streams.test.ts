import * as http from "node:http";
import { createTokenStore } from "../../../adapters/files/token-store";
import { eventStream } from "../../../api/routes/run-metrics";
import { createLogger } from "../../../core/logging";
import { createApiServer } from "../../../stack/api-server";
import { streamedRoutes } from "../../../stack/api-streams";
import { temporaryFolder } from "../../support/temporary-folder";
import { startServer } from "../../support/web-server";

const logger = createLogger(() => undefined, { now: () => 0 });
const path = "/api/v1/training-runs/run-1/metrics";

describe("a streamed answer on one machine", () => {
  const data = temporaryFolder("api-streams");
  const seen: string[] = [];
  let more: () => void = () => undefined;
  let gone: () => void = () => undefined;
  const left = new Promise<void>((resolve) => {
    gone = resolve;
  });
  /** Sends a heartbeat on each call of `more`, until the client disconnects. */
  const app = {
    fetch: async (request: Request) => {
      seen.push(`${request.method} ${request.url.replace(/:\d+/, "")} ${request.headers.get("x-said")}`);
      return eventStream(logger, async function* ({ isGone, sleep }) {
        while (!isGone()) {
          yield { event: "heartbeat" };
          await Promise.race([sleep(3_600_000), new Promise<void>((resolve) => (more = resolve))]);
        }
        gone();
      });
    },
  } as unknown as Parameters<typeof streamedRoutes>[0];
  const server = createApiServer(async () => ({ statusCode: 200, body: "whole" }), createTokenStore(data), {
    streams: streamedRoutes(app),
  });
  let port: number;
  let close: () => Promise<void>;
  beforeAll(async () => {
    ({ port, close } = await startServer(server));
  });
  afterAll(() => close());

  it("is sent piece by piece, and ends when the client disconnects", async () => {
    const response = await new Promise<http.IncomingMessage>((answered) =>
      http.get({ port, path: `${path}?metric=a%2Fb`, headers: { "x-said": "so" } }, answered),
    );
    expect(seen).toEqual([`GET http://localhost${path}?metric=a%2Fb so`]);
    const texts: string[] = [];
    for await (const chunk of response) {
      texts.push(String(chunk));
      const beats = texts.join("").split("heartbeat").length - 1;
      if (beats === 3) break; // Disconnects.
      if (beats > 0) more();
    }
    expect(texts.join("")).toBe(`retry: 2000\n\n${": heartbeat\n\n".repeat(3)}`);
    await left;
  });

  it.each([
    ["GET", "/api/v1/training-runs/run-1", false],
    ["GET", path, true],
    ["POST", path, false],
    ["GET", `${path}/more`, false],
  ])("%s %s: %s", (httpMethod, path, taken) => {
    expect(streamedRoutes(app).take({ httpMethod, path })).toBe(taken);
  });
});
