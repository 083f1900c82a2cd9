import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { S3 } from "@aws-sdk/client-s3";
import { buildSync } from "esbuild";
import { startS3, temporaryDirectory } from "./harness";

const root = path.resolve(__dirname, "../../..");

/**
 * The program of a service whose process dies at the first event of a key with that request. The object is changed, and
 * its event is not sent.
 */
const program = `
  import http from "node:http";
  import { createS3 } from "./local/s3";
  const put = ({ detail }) => { if (detail.object.key.startsWith("fatal")) process.kill(process.pid, "SIGKILL"); };
  createS3({ dataDirectory: process.argv[2], events: { put } }).then((s3) => {
    const server = http.createServer((request, response) => void s3.handle(request, response));
    server.listen(0, "127.0.0.1", () => console.log(server.address().port));
  });
`;

describe("an event between an object's change and a kill -9", () => {
  const directory = temporaryDirectory();
  const data = path.join(directory, "data");
  const Bucket = "notified";
  beforeAll(() => {
    buildSync({
      stdin: { contents: program, resolveDir: root, loader: "ts" },
      outfile: path.join(directory, "server.js"),
      bundle: true,
      platform: "node",
      external: ["classic-level"],
      logLevel: "error",
    });
  });
  afterAll(() => fs.rmSync(directory, { recursive: true, force: true }));

  async function untilDeath(work: (client: S3) => Promise<unknown>): Promise<void> {
    const child = spawn(process.execPath, [path.join(directory, "server.js"), data], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, NODE_PATH: path.join(root, "node_modules") },
    });
    const gone = once(child, "exit");
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const client = new S3({
      endpoint: `http://127.0.0.1:${line.toString().trim()}`,
      region: "us-east-1",
      credentials: { accessKeyId: "a", secretAccessKey: "b" },
      maxAttempts: 1,
    });
    await expect(work(client)).rejects.toThrow();
    await gone;
    client.destroy();
  }

  const publishedEvents = async () => {
    const s3 = await startS3({ directory: data });
    await s3.close();
    return s3.events.map(({ detailType, detail }) => [detailType, (detail as { object: { key: string } }).object.key]);
  };

  it("is published once by the next process", async () => {
    await untilDeath(async (client) => {
      await client.createBucket({ Bucket });
      const NotificationConfiguration = { EventBridgeConfiguration: {} };
      await client.putBucketNotificationConfiguration({ Bucket, NotificationConfiguration });
      await client.putObject({ Bucket, Key: "before", Body: "x" });
      await client.putObject({ Bucket, Key: "fatal", Body: "x" });
    });
    expect(await publishedEvents()).toEqual([["Object Created", "fatal"]]);
    expect(await publishedEvents()).toEqual([]);
    await untilDeath((client) => client.deleteObject({ Bucket, Key: "fatal" }));
    expect(await publishedEvents()).toEqual([["Object Deleted", "fatal"]]);
  });

  it("is not published if the change was not made", async () => {
    const event = {
      source: "aws.s3",
      detailType: "Object Created",
      resources: [],
      detail: { object: { key: "before" } },
    };
    const intents = [
      { bucket: Bucket, key: "before", writeId: "of a write that did not come to be", event },
      { bucket: Bucket, key: "before", event: { ...event, detailType: "Object Deleted" } },
    ];
    fs.writeFileSync(path.join(data, "notifications.ndjson"), intents.map((line) => JSON.stringify(line)).join("\n"));
    expect(await publishedEvents()).toEqual([]);
  });
});
