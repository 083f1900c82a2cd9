import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { streamHandle } from "hono/aws-lambda";
import { createStreamApp } from "../../../lambdas/stream-metrics/app";
import type { TestPlatform as Platform } from "../../support/embedded";
import { createTestPlatform, useEmbedded } from "../../support/embedded";
import { runOf } from "../../support/fixtures";

type Handler = (event: object, stream: PassThrough, context: object) => Promise<void>;

/** The Lambda runtime's streams for a function with a streamed response. */
const metadata = new WeakMap<PassThrough, { readonly statusCode: number; readonly headers: Record<string, string> }>();
const awslambda = {
  streamifyResponse: (handler: Handler) => handler,
  HttpResponseStream: {
    from: (stream: PassThrough, meta: { statusCode: number; headers: Record<string, string> }) => {
      metadata.set(stream, meta);
      return stream;
    },
  },
};

describe("the function stream-metrics", () => {
  const embedded = useEmbedded();
  let platform: Platform;
  let handler: Handler;
  beforeAll(async () => {
    Object.assign(globalThis, { awslambda });
    ({ platform } = createTestPlatform(embedded));
    const directory = [{ name: "vision", principals: ["arn:aws:iam::1:role/vision"], groups: [] }];
    handler = streamHandle(createStreamApp(platform, { directory })) as unknown as Handler;
    const vision = platform.forTeam("vision");
    await vision.runs.create(runOf("run-s", { team: "vision" }));
    await vision.metrics.append("run-s", [{ metric: "loss", steps: [1], values: [2], times: [1] }]);
    await vision.runs.close("run-s", { status: "failed", at: "2025-12-31T00:00:00.000Z" });
  });
  afterAll(() => Reflect.deleteProperty(globalThis, "awslambda"));

  async function invoke(path: string, headers: Record<string, string> = {}, role = "vision") {
    const stream = new PassThrough();
    const body = text(stream);
    await handler(
      {
        resource: "/{proxy+}",
        httpMethod: "GET",
        path: `/api/v1${path}`,
        headers: { host: "api.example.com", ...headers },
        multiValueHeaders: {},
        queryStringParameters: null,
        multiValueQueryStringParameters: null,
        body: null,
        isBase64Encoded: false,
        requestContext: {
          domainName: "api.example.com",
          identity: { userArn: `arn:aws:sts::1:assumed-role/${role}/s` },
        },
      },
      stream,
      {},
    );
    return { ...metadata.get(stream)!, body: await body };
  }

  it("streams events, and answers JSON to who does not ask for them", async () => {
    const events = await invoke("/training-runs/run-s/metrics", { accept: "text/event-stream" });
    expect([events.statusCode, events.headers["content-type"]]).toEqual([200, "text/event-stream; charset=utf-8"]);
    expect([...events.body.matchAll(/^event: (.*)$/gm)].map(([, event]) => event)).toEqual(["run", "metrics", "end"]);
    const json = await invoke("/training-runs/run-s/metrics");
    expect(JSON.parse(json.body)).toMatchObject({ metrics: [{ metric: "loss", last: 2 }] });
  });

  it.each([
    ["another run", "/training-runs/run-none/metrics", "vision", 404, "RUN_NOT_FOUND"],
    ["who is in no team", "/training-runs/run-s/metrics", "audio", 403, "NO_TEAM"],
    ["any other route, which is not its own", "/training-runs/run-s", "vision", 404, "ROUTE_NOT_FOUND"],
  ])("refuses %s", async (_what, path, role, status, code) => {
    const { statusCode, body } = await invoke(path, { accept: "text/event-stream" }, role);
    expect([statusCode, JSON.parse(body).error.code]).toEqual([status, code]);
  });
});
