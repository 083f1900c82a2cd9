import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
} from "@aws-sdk/client-s3";
import { Upload } from "@aws-sdk/lib-storage";
import { buildSync } from "esbuild";
import { bytes } from "./contract/target";
import { temporaryDirectory } from "./harness";

const root = path.resolve(__dirname, "../../..");
const Bucket = "survivors";
const absent = -1;

/** The program of the service in its own process, which the test kills. */
const program = `
  import http from "node:http";
  import { createS3 } from "./local/s3";
  createS3({ dataDirectory: process.argv[2], events: { put() {} } }).then((s3) => {
    const server = http.createServer((request, response) => void s3.handle(request, response));
    server.listen(0, "127.0.0.1", () => console.log(server.address().port));
  });
`;

let directory: string;
let child: ChildProcess | undefined;

beforeAll(() => {
  directory = temporaryDirectory();
  buildSync({
    stdin: { contents: program, resolveDir: root, loader: "ts" },
    outfile: path.join(directory, "server.js"),
    bundle: true,
    platform: "node",
    external: ["classic-level"],
    logLevel: "error",
  });
});

afterAll(() => {
  child?.kill("SIGKILL");
  fs.rmSync(directory, { recursive: true, force: true });
});

async function start(): Promise<S3Client> {
  child = spawn(process.execPath, [path.join(directory, "server.js"), path.join(directory, "data")], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, NODE_PATH: path.join(root, "node_modules") },
  });
  const [line] = (await once(child.stdout!, "data")) as [Buffer];
  return new S3Client({
    endpoint: `http://127.0.0.1:${line.toString().trim()}`,
    region: "us-east-1",
    credentials: { accessKeyId: "a", secretAccessKey: "b" },
    maxAttempts: 1,
  });
}

async function kill(client: S3Client): Promise<void> {
  const gone = once(child!, "exit");
  child!.kill("SIGKILL");
  await gone;
  client.destroy();
}

/** Returns a body that identifies its write: a shuffled sequence that begins at the version. */
const bodyOf = (version: number, length: number) =>
  Buffer.concat([Buffer.from(`${version}:${length}:`), bytes(length, version + 1)]);

function versionIn(body: Buffer): number {
  const [version, length] = body.subarray(0, 40).toString("latin1").split(":").map(Number) as [number, number];
  expect(body.equals(bodyOf(version, length))).toBe(true);
  return version;
}

it("kill -9 loses no acknowledged object and shows no incomplete one", async () => {
  let client = await start();
  await client.send(new CreateBucketCommand({ Bucket }));
  /** The versions that a reader may see of each key: the last acknowledged one (or none), and the writes since then. */
  const allowed = new Map<string, number[]>();
  let version = 0;

  for (const acknowledgements of [7, 1, 12, 4]) {
    let acknowledged = 0;
    let stopped = false;
    const enough = new Promise<void>((resolve) => {
      const writer = async (name: number) => {
        while (!stopped) {
          const mine = version++;
          const Key = `writer-${name}/slot-${mine % 3}`;
          const known = allowed.get(Key) ?? [absent];
          allowed.set(Key, [...known, mine]);
          const large = mine % 4 === 0;
          const Body = bodyOf(mine, large ? 6 * 1024 ** 2 : 1000 + mine * 37);
          try {
            if (large) await new Upload({ client, params: { Bucket, Key, Body } }).done();
            else await client.send(new PutObjectCommand({ Bucket, Key, Body }));
          } catch {
            return;
          }
          allowed.set(Key, [mine]);
          acknowledged++;
          if (acknowledged >= acknowledgements) resolve();
        }
      };
      for (const name of [1, 2, 3]) void writer(name);
    });
    await enough;
    await kill(client);
    stopped = true;

    client = await start();
    const found = new Set<string>();
    for await (const page of paginateListObjectsV2({ client, pageSize: 2 }, { Bucket })) {
      for (const { Key, Size } of page.Contents ?? []) {
        const got = await client.send(new GetObjectCommand({ Bucket, Key: Key! }));
        const body = Buffer.from(await got.Body!.transformToByteArray());
        expect(body.length).toBe(Size);
        const seen = versionIn(body);
        expect(allowed.get(Key!)).toContain(seen);
        allowed.set(Key!, [seen]);
        found.add(Key!);
      }
    }
    for (const [key, versions] of [...allowed]) {
      if (found.has(key)) continue;
      expect(versions).toContain(absent);
      allowed.set(key, [absent]);
    }
    expect(fs.readdirSync(path.join(directory, "data", "temporary"))).toEqual([]);
    await client.send(new ListMultipartUploadsCommand({ Bucket }));
  }
  await kill(client);
});
