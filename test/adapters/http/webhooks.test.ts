import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { createWebhooks } from "../../../adapters/http/webhooks";
import type { Message } from "../../../core/notifications/shapes";
import { keyText } from "../../../core/signing-key";
import { temporaryFolder } from "../../support/temporary-folder";
import { startServer, type WebServer } from "../../support/web-server";

const key = Buffer.from("0123456789abcdef0123456789abcdef");
const message: Message = { id: "run-ended-run-1", type: "run.failed", body: '{"type":"run.failed","é":1}' };
const now = Date.parse("2026-01-01T00:00:00.000Z");

describe("a webhook", () => {
  const directory = temporaryFolder("receiver");
  const received: { readonly headers: IncomingHttpHeaders; readonly body: string }[] = [];
  const pauses: number[] = [];
  let statuses: number[] = [];
  let server: WebServer;
  let url: string;
  beforeAll(async () => {
    server = await startServer(async (request, response) => {
      received.push({ headers: request.headers, body: await text(request) });
      response.writeHead(statuses.shift() ?? 204, { location: "http://169.254.169.254/" }).end();
    });
    url = `${server.endpoint}/hook`;
  });
  afterAll(() => server.close());
  beforeEach(() => {
    received.length = 0;
    pauses.length = 0;
    statuses = [];
  });

  const webhooksWith = (allowLoopback: boolean, resolveName?: (name: string) => Promise<readonly string[]>) =>
    createWebhooks({
      ...{ clock: { now: () => now }, targets: { allowLoopback, ownPorts: [] }, resolveName },
      pause: async (round) => void pauses.push(round),
    });
  const webhooks = webhooksWith(true);

  it("is posted signed, with the event's id and the same bytes in each of three attempts", async () => {
    statuses = [500, 429];
    expect(await webhooks.post(url, key, message, 3)).toEqual({ accepted: true, answer: "status 204" });
    expect(pauses).toEqual([1, 2]);
    const signature = createHmac("sha256", key)
      .update(`run-ended-run-1.${now / 1_000}.${message.body}`)
      .digest("base64");
    for (const { headers, body } of received) {
      expect(body).toBe(message.body);
      expect(headers).toMatchObject({
        "content-type": "application/json",
        "webhook-id": "run-ended-run-1",
        "webhook-timestamp": String(now / 1_000),
        "webhook-signature": `v1,${signature}`,
      });
    }
    expect(received).toHaveLength(3);
  });

  it.each([
    ["what may pass, after three tries", [503, 503, 503], 3, "it answered with status 503", true],
    [
      "a redirect, which is not followed",
      [307],
      1,
      "it answered with status 307, and redirects are not followed",
      false,
    ],
  ] as const)("reports %s", async (_, answers, times, answer, retryable) => {
    statuses = [...answers];
    expect(await webhooks.post(url, key, message, 3)).toEqual({ accepted: false, answer, retryable });
    expect(received).toHaveLength(times);
  });

  it("is accepted by the receiver in docs/notifications.md, which refuses another key", async () => {
    const docs = readFileSync("docs/notifications.md", "utf8");
    const file = join(directory, "receiver.mjs");
    const code = /```js\n([\s\S]*?)```/.exec(docs)![1]!;
    writeFileSync(file, code.replace(/(\.listen\(.*)\);/, "$1, function () { console.log(this.address().port); });"));
    const child = spawn(process.execPath, [file], { env: { PORT: "0", NOTIFY_KEY: keyText(key) } });
    try {
      const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
      const to = `http://127.0.0.1:${(await lines.next()).value}/`;
      const current = createWebhooks({
        clock: { now: () => Date.now() },
        targets: { allowLoopback: true, ownPorts: [] },
        pause: async () => {},
      });
      expect(await current.post(to, key, message, 1)).toEqual({ accepted: true, answer: "status 204" });
      expect((await lines.next()).value).toBe("run-ended-run-1 run.failed");
      const refused = { accepted: false, answer: "it answered with status 401", retryable: false };
      expect(await current.post(to, Buffer.alloc(32), message, 1)).toEqual(refused);
      // Signed long ago, like a recording.
      expect(await webhooks.post(to, key, message, 1)).toEqual(refused);
    } finally {
      child.kill();
    }
  });

  it("is retried if nobody listens", async () => {
    const result = await webhooks.post("http://127.0.0.1:1/", key, message, 3);
    expect(result).toEqual({ accepted: false, answer: "it could not be reached (ECONNREFUSED)", retryable: true });
    expect(pauses).toEqual([1, 2]);
  });

  it.each([
    ["https://example.com/hook", ["93.184.216.34"], undefined],
    ["http://example.com/hook", ["93.184.216.34"], /must be an https URL/],
    [
      "https://intern.example/",
      ["93.184.216.34", "10.0.0.7"],
      /intern.example is 10.0.0.7, which is no public address/,
    ],
    ["https://169.254.169.254/latest/meta-data", [], /^169.254.169.254 is no public address/],
    ["https://ada:secret@example.com/", ["93.184.216.34"], /must carry no credentials/],
    ["http://127.0.0.1:8080/", [], /must be an https URL/],
    ["https://example.com/", [], /has no address/],
    ["hook", [], /must be an https URL, such as/],
  ] as const)("to %s on AWS", async (to, addresses, problem) => {
    const found = await webhooksWith(false, async () => addresses).problemOf(to);
    if (problem === undefined) expect(found).toBeUndefined();
    else expect(found).toMatch(problem);
  });
});
