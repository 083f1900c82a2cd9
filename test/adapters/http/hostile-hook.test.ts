import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { createCheckHooks } from "../../../adapters/http/check-hooks";
import { isPublicAddress } from "../../../adapters/http/guarded-post";
import { createWebhooks } from "../../../adapters/http/webhooks";
import { deliveryId, type HookRequest, type HttpCheck } from "../../../core/registry/gates/external-check";
import { type HookTargets, publicTargets } from "../../../platform/config";
import { startServer, type WebServer } from "../../support/web-server";

const request: HookRequest = {
  ...{ type: "ringmaster.check", check: "safety", team: "default", model: "digits", version: 3 },
  ...{ metrics: {}, artifacts: [] },
};
const key = Buffer.alloc(32, 1);

type Behaviour = (response: ServerResponse, socket: Socket) => void;

describe("a hostile hook", () => {
  let behave: Behaviour = () => undefined;
  let calls = 0;
  let tries = 0;
  let reached = 0;
  const timers: NodeJS.Timeout[] = [];
  let servers: WebServer[];
  let port: number;
  let ownPort: number;
  beforeAll(async () => {
    const hostile = await startServer((incoming, response) => {
      calls += 1;
      incoming.resume().on("end", () => behave(response, incoming.socket));
    });
    const bystander = await startServer((incoming, response) => {
      reached += 1;
      incoming.resume();
      response.end('{"passed": true}');
    });
    servers = [hostile, bystander];
    [port, ownPort] = [hostile.port, bystander.port];
  });
  afterAll(async () => {
    for (const server of servers) await server.close();
  });
  beforeEach(() => {
    [calls, reached] = [0, 0];
  });
  afterEach(() => {
    for (const timer of timers.splice(0)) clearInterval(timer);
    expect(reached).toBe(0);
  });

  const settings = (
    more: { targets?: HookTargets; resolveName?: (name: string) => Promise<readonly string[]> } = {},
  ) => ({
    // Each attempt takes so long that there is time for only one.
    clock: { now: () => (tries += 30_000) },
    pause: async () => undefined,
    targets: { allowLoopback: true, ownPorts: [ownPort] },
    ...more,
  });
  const check = (url: string): HttpCheck => ({ name: "safety", kind: "http", url, timeoutSeconds: 1 });
  const call = (url = `http://127.0.0.1:${port}/`, more = {}) =>
    createCheckHooks(settings(more)).call(check(url), deliveryId(check(url), request), key, request);
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

  it.each<[string, Behaviour, RegExp]>([
    ["redirects to the stack", (to) => to.writeHead(307, { location: `http://127.0.0.1:${ownPort}/` }).end(), /307/],
    [
      "redirects by a refresh",
      (to) => to.writeHead(200, { refresh: `0;url=http://127.0.0.1:${ownPort}` }).end(),
      /JSON/,
    ],
    ["stalls before its answer", () => undefined, /no answer within 1000 ms/],
    [
      "answers a byte at a time, for ever",
      (to) => void timers.push(setInterval(() => to.write(" "), 20)),
      /no answer within 1000 ms/,
    ],
    [
      "streams without end",
      (to) => void timers.push(setInterval(() => to.write(Buffer.alloc(20_000, 32)), 5)),
      /more than 65536 bytes/,
    ],
    ["promises more than it sends", (to) => to.writeHead(200, { "content-length": 99 }).end("{}"), /no answer|reached/],
    ["answers 30,000 levels deep", (to) => to.end(`{"passed": ${nested(30_000)}}`), /is no JSON/],
    ["passes by a word", (to) => to.end('{"passed": "true", "evidence": ""}'), /must answer/],
    ["passes by a prototype", (to) => to.end('{"__proto__": {"passed": true}}'), /must answer/],
    ["answers with a status that it made up", (to) => to.writeHead(299).end('{"passed": true}'), /status 299/],
    ["answers with another protocol", (_to, socket) => socket.end("SSH-2.0-OpenSSH\r\n"), /could not be reached/],
    [
      "switches protocols",
      (_to, socket) => socket.end("HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"),
      /switched to another protocol/,
    ],
    [
      "announces heads without end",
      (_to, socket) => void timers.push(setInterval(() => socket.write("HTTP/1.1 100 Continue\r\n\r\n"), 20)),
      /no answer within 1000 ms/,
    ],
    [
      "answers with a head of 100 KB",
      (_to, socket) => socket.end(`HTTP/1.1 200 OK\r\nx: ${"x".repeat(100_000)}\r\n\r\n{"passed": true}`),
      /could not be reached/,
    ],
  ])("gives no verdict where it %s", async (_name, behaviour, why) => {
    behave = behaviour;
    expect(await call()).toEqual({ unanswered: expect.stringMatching(why) });
    expect(calls).toBeGreaterThan(0);
  });

  it("counts only its first answer on a connection", async () => {
    const answer = (passed: boolean) => {
      const body = JSON.stringify({ passed });
      return `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    };
    behave = (_response, socket) => socket.end(answer(false) + answer(true));
    expect(await call()).toMatchObject({ answer: { passed: false } });
  });

  it("answers only for the requested version", async () => {
    behave = (response) =>
      response.end('{"passed": true, "version": 99, "model": "other", "check": "other", "by": "ada"}');
    expect(await call()).toEqual({
      answer: { passed: true, evidence: "", by: "hook safety", at: expect.any(String) },
    });
  });

  it.each([
    "127.0.0.1",
    "127.1",
    "0x7f.1",
    "2130706433",
    "017700000001",
    "127。0。0。1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "localhost",
    "LOCALHOST.",
    "name.example",
    "0.0.0.0",
    "[::]",
  ])("reaches no port of the stack at %s, whether loopback is allowed or not", async (host) => {
    const resolveName = async () => ["127.0.0.1"];
    for (const scheme of ["http", "https"]) {
      const url = `${scheme}://${host}:${ownPort}/api/v1/training-runs/run-1/cancel`;
      for (const targets of [{ allowLoopback: true, ownPorts: [1, ownPort] }, publicTargets]) {
        expect(await call(url, { resolveName, targets })).toEqual({
          unanswered: expect.stringMatching(/the stack's own|no public address|must be an https URL/),
        });
        const hooks = createCheckHooks(settings({ resolveName, targets }));
        const webhooks = createWebhooks(settings({ resolveName, targets }));
        expect([await hooks.problemOf(url), await webhooks.problemOf(url)]).toEqual([
          expect.any(String),
          expect.any(String),
        ]);
      }
    }
    expect(calls).toBe(0);
  });

  it("reaches nothing by a name that later resolves to the stack", async () => {
    behave = (response) => response.writeHead(503).end();
    const seen: string[] = [];
    const resolveName = async (name: string) => {
      seen.push(name);
      return seen.length === 1 ? ["127.0.0.1"] : ["127.0.0.1", "10.0.0.1"];
    };
    // The name was harmless at registration and is not at the call. Each attempt is checked separately.
    const more = { resolveName, clock: { now: () => 0 } };
    expect(await call(`http://rebinding.example:${port}/`, more)).toEqual({
      unanswered: expect.stringMatching(/must be an https URL|10\.0\.0\.1, which is no public address/),
    });
    expect([seen.length, calls]).toEqual([2, 1]);
  });

  it.each([
    ["several addresses, one of them private", ["93.184.215.14", "10.0.0.1"]],
    ["the loopback and a public address", ["127.0.0.1", "93.184.215.14"]],
    ["an address with a zone", ["fe80::1%lo"]],
  ])("is not called if its name has %s", async (_name, addresses) => {
    const more = { resolveName: async () => addresses, targets: publicTargets };
    expect(await call(`https://name.example:${port}/`, more)).toEqual({
      unanswered: expect.stringContaining("no public address"),
    });
    expect(calls).toBe(0);
  });
});

/**
 * IANA's special-purpose address registries (IPv4, IPv6), with one address of each block, and the metadata services of
 * AWS.
 */
it.each([
  ["this host", "0.1.2.3"],
  ["private use", "10.255.255.255"],
  ["shared address space (CGNAT)", "100.127.255.255"],
  ["loopback", "127.255.255.255"],
  ["link-local", "169.254.1.1"],
  ["EC2's metadata", "169.254.169.254"],
  ["ECS's credentials", "169.254.170.2"],
  ["EKS's credentials", "169.254.170.23"],
  ["private use", "172.16.0.1"],
  ["IETF protocol assignments", "192.0.0.8"],
  ["TEST-NET-1", "192.0.2.1"],
  ["6to4 relays", "192.88.99.1"],
  ["private use", "192.168.255.255"],
  ["benchmarking", "198.19.255.255"],
  ["TEST-NET-2", "198.51.100.1"],
  ["TEST-NET-3", "203.0.113.1"],
  ["multicast", "239.255.255.255"],
  ["reserved", "240.0.0.1"],
  ["limited broadcast", "255.255.255.255"],
  ["unspecified", "::"],
  ["loopback", "::1"],
  ["IPv4-compatible", "::7f00:1"],
  ["IPv4-mapped", "::ffff:8.8.8.8"],
  ["NAT64", "64:ff9b::7f00:1"],
  ["NAT64, local use", "64:ff9b:1::a00:1"],
  ["discard-only", "100::1"],
  ["dummy prefix", "100:0:0:1::1"],
  ["IETF protocol assignments", "2001:1ff::1"],
  ["Teredo", "2001:0:7f00:1::"],
  ["benchmarking", "2001:2::1"],
  ["ORCHIDv2", "2001:20::1"],
  ["documentation", "2001:db8::1"],
  ["6to4", "2002:7f00:1::1"],
  ["documentation", "3fff::1"],
  ["segment routing", "5f00::1"],
  ["unique local", "fc00::1"],
  ["EC2's metadata", "fd00:ec2::254"],
  ["ECS's and EKS's credentials", "fd00:ec2::23"],
  ["link-local", "fe80::1"],
  ["site-local", "fec0::1"],
  ["multicast", "ff02::1"],
])("an address of %s is not public: %s", (_block, address) => {
  expect(isPublicAddress(address)).toBe(false);
});
