import fs from "node:fs";
import path from "node:path";
import { buildSync } from "esbuild";
import type { MetricBatch } from "../../../core/tracking/metric-store";
import { createSendThread } from "../../../trainer-container/telemetry/send-thread";
import { bundleWorker, root, useService } from "../../support/bundle";
import { startServer, type WebServer } from "../../support/web-server";

const batch = (step: number): MetricBatch => ({
  runId: "run-1",
  series: [{ metric: "train/loss", steps: [step], values: [step / 2], times: [0] }],
});

describe("the thread that sends metrics", () => {
  let folder: string;
  let script: string;
  let server: WebServer;
  let received: number[];
  let troubles: string[];
  /** Statuses of the next answers. All later answers succeed. */
  let answers: { readonly status: number; readonly error?: string; readonly body?: string }[];

  beforeAll(async () => {
    ({ folder, script } = bundleWorker("telemetry/send-thread"));
    server = await startServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const { status, error, body = "{}" } = answers.shift() ?? { status: 200 };
        const sent = JSON.parse(Buffer.concat(chunks).toString()) as MetricBatch;
        if (status === 200 && error === undefined) received.push(...sent.series.flatMap(({ steps }) => steps));
        const headers = { "content-type": "application/json", ...(error && { "x-amz-function-error": error }) };
        response.writeHead(status, headers).end(body);
      });
    });
    useService(server.endpoint);
  });
  afterAll(async () => {
    await server.close();
    fs.rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    [received, troubles, answers] = [[], [], []];
  });

  const open = (worker: string) => {
    const settings = { ingestFunction: "ingest", directory: path.join(folder, "batches") };
    return createSendThread(worker, settings, (message) => troubles.push(message));
  };

  it.each(["telemetry/send-thread", "checkpoint/upload-worker"])("loads no schemas: %s", (name) => {
    const { metafile } = buildSync({
      absWorkingDir: root,
      entryPoints: [`trainer-container/${name}.ts`],
      bundle: true,
      write: false,
      metafile: true,
      platform: "node",
      mainFields: ["module", "main"],
      logLevel: "error",
    });
    const [bundle] = Object.values(metafile.outputs);
    const files = Object.keys(bundle!.inputs);
    expect(files).toContain(`trainer-container/${name}.ts`);
    expect(files.filter((file) => /node_modules[\\/](zod|yaml)[\\/]/.test(file))).toEqual([]);
  });

  it("sends batches in their order, and tells of each when it is stored", async () => {
    const queue = open(script);
    const stored: number[] = [];
    const ends = [1, 2, 3].map((step) => queue.post(batch(step)).then(() => stored.push(step)));
    await Promise.all(ends);
    expect([received, stored, troubles]).toEqual([[1, 2, 3], [1, 2, 3], []]);
    await queue.close(1_000);
  });

  it("tells what went wrong, and sends again what may succeed", async () => {
    const refusal = JSON.stringify({ errorType: "RUN_NOT_FOUND", errorMessage: "no such run" });
    answers = [
      { status: 200, error: "Unhandled", body: refusal },
      { status: 200, error: "Unhandled", body: "{}" },
    ];
    const queue = open(script);
    await queue.post(batch(1));
    await queue.post(batch(2));
    expect(received).toEqual([2]);
    expect(troubles).toEqual([expect.stringContaining("no such run"), "metrics cannot be sent; they wait"]);
    await queue.close(1_000);
  });

  it("ends with what it has within its patience, leaving nothing behind", async () => {
    const queue = open(script);
    for (let step = 1; step <= 40; step += 1) void queue.post(batch(step));
    await queue.close(60_000);
    expect(received).toHaveLength(40);
    answers = Array.from({ length: 99 }, () => ({ status: 200, error: "Unhandled" }));
    const away = open(script);
    const ends = Array.from({ length: 40 }, (_, index) => away.post(batch(index)));
    await away.close(50);
    await Promise.all(ends); // nobody waits for ever
    expect(fs.readdirSync(path.join(folder, "batches"))).toEqual([]);
    await open(script).close(60_000); // none was started
  });

  it("that dies is followed by another, which sends what it had not sent", async () => {
    const dying = path.join(folder, "dying.js");
    fs.writeFileSync(
      dying,
      `const { existsSync, writeFileSync } = require("node:fs");
       const { parentPort, workerData } = require("node:worker_threads");
       const marker = ${JSON.stringify(path.join(folder, "died"))};
       if (existsSync(marker)) require(${JSON.stringify(script)});
       else parentPort.on("message", ({ id }) => {
         if (id === 0) return parentPort.postMessage({ kind: "gone", id });
         writeFileSync(marker, "");
         process.exit(7);
       });`,
    );
    const queue = open(dying);
    await queue.post(batch(1));
    const second = queue.post(batch(2));
    while (troubles.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([second, queue.post(batch(3))]);
    expect(received).toEqual([2, 3]); // the dying one said of the first that it is stored
    expect(troubles).toEqual(["the thread that sends metrics ended; another one continues"]);
    await queue.close(1_000);
  });
});
