import { request as httpRequest } from "node:http";
import { createFront, serviceName } from "../../../local/front";
import type { Service } from "../../../local/service";
import { sendJson } from "../../../local/wire";
import { testIam } from "../../support/iam";
import { sign } from "../../support/sign";
import { startServer, type WebServer } from "../../support/web-server";

const signed = (service: string) =>
  `AWS4-HMAC-SHA256 Credential=AK/20260101/us-east-1/${service}/aws4_request, SignedHeaders=host, Signature=00`;

describe("serviceName", () => {
  const cases: readonly [string, { url?: string; headers: Record<string, string> }, string | undefined][] = [
    ["signature scope", { headers: { authorization: signed("batch") } }, "batch"],
    [
      "SigV4a scope, which has no region",
      { headers: { authorization: "AWS4-ECDSA-P256-SHA256 Credential=AK/20260101/s3/aws4_request, Signature=00" } },
      "s3",
    ],
    [
      "presigned query",
      { url: "/b/k?X-Amz-Credential=AK%2F20260101%2Fus-east-1%2Fs3%2Faws4_request", headers: {} },
      "s3",
    ],
    ["target", { headers: { "x-amz-target": "DynamoDB_20120810.GetItem" } }, "dynamodb"],
    ["target of events", { headers: { "x-amz-target": "AWSEvents.PutEvents" } }, "events"],
    [
      "the signature goes before the target",
      { headers: { authorization: signed("logs"), "x-amz-target": "AWSEvents.X" } },
      "logs",
    ],
    ["nothing", { url: "/bucket/key", headers: {} }, undefined],
    ["a bearer token", { headers: { authorization: "Bearer abc" } }, undefined],
  ];
  it.each(cases)("%s", (_, request, expected) => {
    expect(serviceName({ url: "/", ...request })).toBe(expected);
  });
});

describe("front", () => {
  let server: WebServer;
  let base: string;
  const echo = (signingName: string, handle: Service["handle"]): Service => ({
    signingName,
    handle,
    close: async () => {},
  });

  beforeAll(async () => {
    const services = [
      echo("batch", async (_, response) => sendJson(response, 200, { from: "batch" })),
      echo("lambda", async () => {
        throw new Error("boom");
      }),
      echo("s3", async () => {
        throw new Error("<boom>");
      }),
      echo("logs", async (_, response) => {
        response.writeHead(200, { "content-length": 10 });
        response.write("half");
        throw new Error("boom");
      }),
    ];
    server = await startServer(createFront(services, testIam));
    base = server.endpoint;
    jest.spyOn(process.stderr, "write").mockReturnValue(true);
  });
  afterAll(async () => {
    jest.restoreAllMocks();
    await server.close();
  });
  const call = async (service: string, path = "/", url = base) =>
    fetch(url + path, { headers: await sign({ url: url + path, service }, testIam.owner) });
  const send = (url: string, headers: Readonly<Record<string, string>>) =>
    new Promise<number | undefined>((resolve, reject) => {
      httpRequest(url, { headers }, (response) => resolve(response.resume().statusCode))
        .on("error", reject)
        .end();
    });

  it("passes a request to its service and adds a request id", async () => {
    const response = await call("batch");
    expect(await response.json()).toEqual({ from: "batch" });
    expect(response.headers.get("x-amzn-requestid")).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("answers health without a signature", async () => {
    const response = await fetch(`${base}/_ringmaster/health`);
    expect(await response.json()).toEqual({ status: "ok", services: ["batch", "lambda", "s3", "logs"] });
  });

  it("names a missing service in an error that no SDK retries", async () => {
    const response = await call("sqs");
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ message: expect.stringContaining("'sqs'") });
  });

  it("refuses a request that names no service", async () => {
    const response = await fetch(`${base}/bucket/key`);
    expect(response.status).toBe(403);
    expect(response.headers.get("x-amzn-errortype")).toBe("MissingAuthenticationToken");
  });

  it.each([
    ["a name that resolves here", { host: "rebound.example.com" }, 403],
    ["a page of another site", { origin: "https://example.com" }, 403],
    ["a page without an origin", { origin: "null" }, 403],
    ["a page on this machine", { origin: "http://localhost:4700" }, 403],
    ["a page of this very port", { "sec-fetch-site": "same-origin" }, 403],
    ["a page of another port", { "sec-fetch-site": "same-site" }, 403],
    ["an image of another site", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" }, 403],
    [
      "a frame of another site",
      { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" },
      403,
    ],
    [
      "a link that a person follows",
      { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" },
      200,
    ],
    ["a person who types the address", { "sec-fetch-site": "none" }, 200],
    ["another port's number", { host: "127.0.0.1:1" }, 403],
    ["every address of this machine", { host: "0.0.0.0" }, 403],
    ["a name that only begins as this machine's", { host: "127.0.0.1.example.com" }, 403],
    ["a bucket's own host", { host: "models.localhost" }, 200],
  ])("for %s answers %j with %d", async (_, headers: Readonly<Record<string, string>>, expected) => {
    expect(await send(base, await sign({ url: base, service: "batch", headers }, testIam.owner))).toBe(expected);
    const health = `${base}/_ringmaster/health`;
    expect(await send(health, headers)).toBe(expected);
  });

  it("turns an unexpected exception into a 500 of JSON, or XML for S3, and continues", async () => {
    const json = await call("lambda");
    expect(json.status).toBe(500);
    expect(await json.json()).toMatchObject({ __type: "InternalFailure" });
    const xml = await call("s3");
    expect(xml.status).toBe(500);
    expect(await xml.text()).toContain("<Code>InternalError</Code>");
    expect((await call("batch")).status).toBe(200);
  });

  it("closes the connection if an answer fails in the middle", async () => {
    await expect(call("logs").then((response) => response.text())).rejects.toThrow();
    expect((await call("batch")).status).toBe(200);
  });

  it("delays requests until the services exist", async () => {
    let ready: (services: readonly Service[]) => void = () => {};
    const later = new Promise<readonly Service[]>((resolve) => {
      ready = resolve;
    });
    const { endpoint: url, close } = await startServer(createFront(later, testIam));
    expect((await fetch(`${url}/_ringmaster/health`)).status).toBe(503);
    const waiting = call("batch", "/", url);
    ready([echo("batch", async (_, response) => sendJson(response, 200, {}))]);
    expect((await waiting).status).toBe(200);
    expect((await fetch(`${url}/_ringmaster/health`)).status).toBe(200);
    await close();
  });

  it("accepts headers of 32 KB", async () => {
    const headers = { "x-amz-meta-long": "m".repeat(32_000) };
    expect(await send(base, await sign({ url: base, service: "batch", headers }, testIam.owner))).toBe(200);
  });
});
