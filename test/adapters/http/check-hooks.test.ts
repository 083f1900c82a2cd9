import { createHmac } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createCheckHooks } from "../../../adapters/http/check-hooks";
import { isLoopbackUrl, isPublicAddress } from "../../../adapters/http/guarded-post";
import { deliveryId, type HookRequest, type HttpCheck } from "../../../core/registry/gates/external-check";
import { publicTargets } from "../../../platform/config";
import { startServer, type WebServer } from "../../support/web-server";

const request: HookRequest = {
  type: "ringmaster.check",
  check: "safety",
  team: "default",
  model: "digits",
  version: 3,
  metrics: { accuracy: 0.97 },
  artifacts: [],
};
const key = Buffer.from("0123456789abcdef0123456789abcdef");
const now = Date.parse("2026-01-01T00:00:00.000Z");

interface Received {
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

describe("a check's hook", () => {
  let server: WebServer;
  let port: number;
  const received: Received[] = [];
  let answer: (response: ServerResponse, times: number) => void = () => undefined;

  beforeAll(async () => {
    server = await startServer((incoming, response) => {
      let body = "";
      incoming.on("data", (chunk) => {
        body += chunk;
      });
      incoming.on("end", () => {
        received.push({ headers: incoming.headers, body });
        answer(response, received.length);
      });
    });
    port = server.port;
  });
  afterAll(() => server.close());
  beforeEach(() => {
    received.length = 0;
  });

  const check = (more: Partial<HttpCheck> = {}): HttpCheck => ({
    name: "safety",
    kind: "http",
    url: `http://127.0.0.1:${port}/check`,
    timeoutSeconds: 5,
    ...more,
  });
  const pauses: number[] = [];
  const hooks = (more: Partial<Parameters<typeof createCheckHooks>[0]> = {}) =>
    createCheckHooks({
      clock: { now: () => now },
      targets: { allowLoopback: true, ownPorts: [] },
      pause: async (round) => void pauses.push(round),
      ...more,
    });
  const call = (of: HttpCheck, more = {}) => hooks(more).call(of, deliveryId(of, request), key, request);
  const says =
    (body: unknown, status = 200) =>
    (response: ServerResponse) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(typeof body === "string" ? body : JSON.stringify(body));
    };

  it("is called once, signed by Standard Webhooks, and its answer is accepted", async () => {
    answer = says({ passed: false, evidence: "toxic on 3 of 100 prompts", more: "ignored" });
    expect(await call(check())).toEqual({
      answer: {
        passed: false,
        evidence: "toxic on 3 of 100 prompts",
        by: "hook safety",
        at: "2026-01-01T00:00:00.000Z",
      },
    });
    expect(received).toHaveLength(1);
    const [{ headers, body }] = received as [Received];
    expect(JSON.parse(body)).toEqual(request);
    const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature } = headers;
    expect([id, timestamp]).toEqual([deliveryId(check(), request), String(now / 1_000)]);
    const expected = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
    expect(signature).toBe(`v1,${expected}`);
  });

  it("is called again under the same id if that may help", async () => {
    pauses.length = 0;
    answer = (response, times) =>
      (times < 3 ? says("busy", times === 1 ? 503 : 429) : says({ passed: true }))(response);
    expect(await call(check())).toMatchObject({ answer: { passed: true, evidence: "" } });
    expect(received.map(({ headers }) => headers["webhook-id"])).toEqual(
      new Array(3).fill(deliveryId(check(), request)),
    );
    expect(pauses).toEqual([1, 2]);
  });

  it.each<[string, number, (response: ServerResponse) => void, RegExp]>([
    ["answers no", 1, says("no", 403), /status 403/],
    ["fails each time", 3, says("", 500), /status 500/],
    ["gives other JSON", 1, says({ ok: true }), /must answer/],
    ["gives too much evidence", 1, says({ passed: true, evidence: "x".repeat(4_001) }), /must answer/],
    ["hangs up", 3, (response) => response.destroy(), /could not be reached/],
  ])("has not answered where it %s", async (_name, times, behaviour, why) => {
    answer = behaviour;
    expect(await call(check())).toEqual({ unanswered: expect.stringMatching(why) });
    expect(received).toHaveLength(times);
  });

  it.each<[string, string, readonly string[] | undefined, RegExp]>([
    ["plain http", "http://example.com/", ["93.184.215.14"], /must be an https URL/],
    ["credentials in the URL", "https://me:secret@example.com/", undefined, /no credentials/],
    ["an address of the machine's own metadata", "https://169.254.169.254/latest", undefined, /no public address/],
    ["an address written as one number", "https://2852039166/", undefined, /169\.254\.169\.254 is no public/],
    ["a name of a private address", "https://example.com/", ["93.184.215.14", "192.168.0.1"], /192\.168\.0\.1/],
    ["a name of nothing", "https://example.com/", [], /has no address/],
  ])("is not called at %s", async (_name, url, addresses, why) => {
    const resolveName = async () => addresses ?? [];
    expect(await call(check({ url }), { targets: publicTargets, resolveName })).toEqual({
      unanswered: expect.stringMatching(why),
    });
    expect(received).toEqual([]);
  });

  it("is called at the checked address, even if its name resolves differently later", async () => {
    answer = says({ passed: true });
    let resolved = 0;
    const resolveName = async () => [resolved++ === 0 ? "127.0.0.1" : "10.0.0.1"];
    const named = check({ url: `http://rebinding.example:${port}/` });
    expect(await call(named, { resolveName })).toMatchObject({ answer: { passed: true } });
    expect([resolved, received[0]!.headers.host]).toEqual([1, `rebinding.example:${port}`]);
  });
});

it.each<[string, boolean]>([
  ["93.184.215.14", true],
  ["8.8.8.8", true],
  ["172.32.0.0", true],
  ["2606:4700::1111", true],
  ["example.com", false],
])("%s is public: %s", (address, expected) => {
  expect(isPublicAddress(address)).toBe(expected);
});

it("knows this machine's own URLs", () => {
  expect(["http://127.0.0.1:4566", "http://localhost:1", "http://[::1]:1"].map(isLoopbackUrl)).toEqual([
    true,
    true,
    true,
  ]);
  expect([undefined, "https://example.com", "nonsense"].map(isLoopbackUrl)).toEqual([false, false, false]);
});
