import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { createCheckHooks } from "../../../adapters/http/check-hooks";
import { isLoopbackUrl, isPublicAddress } from "../../../adapters/http/guarded-post";
import { deliveryId, type HookRequest, type HttpCheck } from "../../../core/registry/gates/external-check";
import { startServer, type WebServer } from "../../support/web-server";

const request: HookRequest = {
  ...{ type: "ringmaster.check", check: "safety", team: "default", model: "digits", version: 3 },
  ...{ metrics: { accuracy: 0.97 }, artifacts: [] },
};
const key = Buffer.from("0123456789abcdef0123456789abcdef");
const now = Date.parse("2026-01-01T00:00:00.000Z");

describe("a check's hook", () => {
  let server: WebServer;
  let port: number;
  const received: { readonly headers: IncomingMessage["headers"]; readonly body: string }[] = [];
  let answer: (response: ServerResponse) => void = () => undefined;

  beforeAll(async () => {
    server = await startServer(async (incoming, response) => {
      received.push({ headers: incoming.headers, body: await text(incoming) });
      answer(response);
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
  const hooks = (more: Partial<Parameters<typeof createCheckHooks>[0]> = {}) =>
    createCheckHooks({
      clock: { now: () => now },
      targets: { allowLoopback: true, ownPorts: [] },
      pause: async () => undefined,
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
    expect(JSON.parse(received[0]!.body)).toEqual(request);
    expect(received[0]!.headers).toMatchObject({
      "webhook-id": deliveryId(check(), request),
      "webhook-timestamp": String(now / 1_000),
      "webhook-signature": expect.stringMatching(/^v1,/),
    });
  });

  it.each<[string, number, (response: ServerResponse) => void, RegExp]>([
    ["answers no", 1, says("no", 403), /status 403/],
    ["fails each time", 3, says("", 500), /status 500/],
    ["gives too much evidence", 1, says({ passed: true, evidence: "x".repeat(4_001) }), /must answer/],
  ])("has not answered where it %s", async (_name, times, behaviour, why) => {
    answer = behaviour;
    expect(await call(check())).toEqual({ unanswered: expect.stringMatching(why) });
    expect(received).toHaveLength(times);
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
  const own = ["http://127.0.0.1:4566", "http://localhost:1", "http://[::1]:1"];
  expect([...own, undefined, "https://example.com", "nonsense"].filter(isLoopbackUrl)).toEqual(own);
});
