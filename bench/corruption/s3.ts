import fs from "node:fs";
import path from "node:path";
import {
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  PutBucketNotificationConfigurationCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
  S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { digestOf, sha256 } from "../../core/digest";
import { CorruptObjectError } from "../../core/object-documents";
import { contentDigestOf, objectKeys } from "../../core/object-keys";
import type { ObjectStore } from "../../core/ports";
import { checkpointFormat, readCheckpoints } from "../../core/training/checkpoint/manifest";
import { createS3 } from "../../local/s3";
import { isDamage } from "../../local/s3/damage";
import { Disk } from "../../local/s3/disk";
import { S3Error } from "../../local/s3/errors";
import { fromBinary, toBinary } from "../../local/s3/keys";
import { FolderCache, listObjects } from "../../local/s3/listing";
import { Notifications } from "../../local/s3/notifications";
import { readObject } from "../../local/s3/operations/read";
import { Store } from "../../local/s3/store";
import { Uploads } from "../../local/s3/uploads";
import { WrittenIndex } from "../../local/s3/written-index";
import { startServer } from "../../test/support/web-server";
import { Observation, type Subject } from "./subject";

const Bucket = "data";
const team = "teams/red/";
const events = { put: () => undefined };
const runId = "run-1";

/** Classes of files of the embedded S3, all in one directory. */
export function s3Subjects(): readonly Subject[] {
  const isIndex = (file: string) => file.startsWith("index/") || file === "s3-index.seal";
  const isCheckpoint = (file: string) => /runs\+.*checkpoints\+/.test(file) || /cas\+/.test(file);
  return [
    subject("S3 objects", (file) => file.includes("/objects/") && !file.endsWith("tags") && !isCheckpoint(file)),
    subject("S3 parts", (file) => path.basename(file).startsWith("part-")),
    subject("S3 documents", (file) => file.endsWith(".json") || file.endsWith("tags")),
    subject("S3 index", isIndex),
    { ...subject("checkpoints", isCheckpoint), observe: observeCheckpoints },
  ];
}

function subject(name: string, owns: (file: string) => boolean): Subject {
  return { name, owns, build, observe: observeObjects, namesOf: keyOfFile };
}

/** Returns the key that an error may name, from the path of an object's file (`local/s3/keys.ts`). */
function keyOfFile(file: string): readonly string[] {
  if (file.startsWith("index/")) return ["/index"]; // the index is one item: its files name each other
  const [, inside] = file.split("/objects/");
  if (inside === undefined) return [];
  const parts = inside.split("/").map((name) => name.slice(0, -1) + (name.endsWith("+") ? "/" : ""));
  return [parts.join("").slice(team.length)];
}

async function build(directory: string, round: 1 | 2): Promise<void> {
  const service = await createS3({ dataDirectory: directory, events, contentDigest: contentDigestOf });
  const server = await startServer((request, response) => void service.handle(request, response));
  const { endpoint } = server;
  const credentials = { accessKeyId: "a", secretAccessKey: "b" };
  const client = new S3Client({ endpoint, region: "us-east-1", credentials });
  const put = (Key: string, Body: string) =>
    client.send(new PutObjectCommand({ Bucket, Key, Body: Buffer.from(Body) }));
  if (round === 1) {
    await client.send(new CreateBucketCommand({ Bucket }));
    const NotificationConfiguration = { EventBridgeConfiguration: {} };
    await client.send(new PutBucketNotificationConfigurationCommand({ Bucket, NotificationConfiguration }));
    await put(`${team}removed`, "removed");
  } else await client.send(new DeleteObjectCommand({ Bucket, Key: `${team}removed` }));
  for (const name of ["a", "b", "empty"]) await put(`${team}small/${name}`, name === "empty" ? "" : `${name} ${round}`);
  await put(`${team}large`, `line ${round}\n`.repeat(25_000));
  const TagSet = [{ Key: "round", Value: String(round) }];
  await client.send(new PutObjectTaggingCommand({ Bucket, Key: `${team}large`, Tagging: { TagSet } }));
  for (const name of ["x", "y"]) {
    const object = { Bucket, Key: `${team}multipart/${name}` };
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(object));
    const Body = `part of ${name} ${round} `.repeat(6000);
    const { ETag } = await client.send(new UploadPartCommand({ ...object, UploadId, PartNumber: 1, Body }));
    const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
    await client.send(new CompleteMultipartUploadCommand({ ...object, UploadId, MultipartUpload }));
  }
  for (const step of [10, 20]) {
    const content = `weights of step ${step * round} `.repeat(200);
    await put(`${team}${objectKeys.content(sha256(content))}`, content);
    await put(
      `${team}${objectKeys.checkpointManifest(runId, step)}`,
      JSON.stringify({
        format: checkpointFormat,
        runId,
        finishedSteps: step,
        epoch: step / 10,
        weightsSha256: sha256(content),
        tensors: [{ buffer: "weights", sha256: sha256(content), bytes: content.length }],
        createdAt: new Date(0).toISOString(),
      }),
    );
  }
  client.destroy();
  await server.close();
  await service.close();
}

/** Opens the service's own parts without a port, and passes them to a reader. */
async function withStore(directory: string, read: (store: Store, seen: Observation) => Promise<void>) {
  const seen = new Observation();
  const disk = new Disk(directory);
  let written: WrittenIndex | undefined;
  let notifications: Notifications | undefined;
  try {
    disk.prepare();
    written = await WrittenIndex.open(directory, undefined);
    const store = new Store(disk, written, Date);
    new Uploads(store).recover();
    notifications = new Notifications(disk, written, events, () => 0);
    notifications.recover();
    await seen.read(`events of ${Bucket}`, () => String(notifications!.isOn(Bucket)));
    await read(store, seen);
    await disk.settle();
  } catch (error) {
    seen.fail(error);
  } finally {
    notifications?.close();
    await written?.close();
  }
  return seen;
}

function observeObjects(directory: string): Promise<Observation> {
  return withStore(directory, async (store, seen) => {
    await seen.read("buckets", () =>
      store.buckets
        .list()
        .map(({ name }) => name)
        .join(),
    );
    for (const key of await keysOf(store, "")) {
      await seen.read(key, async () => digestOf([await contentOf(store, key), metadataOf(store, key)]));
    }
  });
}

/** Reads checkpoints like a trainer: the list, then the content of each. */
function observeCheckpoints(directory: string): Promise<Observation> {
  return withStore(directory, async (store, seen) => {
    const objects = objectsOf(store);
    const { checkpoints, damaged } = await readCheckpoints(objects, runId);
    for (const { error } of damaged) seen.errors.push(error);
    for (const manifest of checkpoints) {
      const item = objectKeys.checkpointManifest(runId, manifest.finishedSteps);
      await seen.read(item, async () => digestOf([manifest, await objects.getContent(manifest.weightsSha256)]));
    }
  });
}

async function keysOf(store: Store, prefix: string): Promise<readonly string[]> {
  const query = { prefix: toBinary(prefix), delimiter: "", after: "", limit: 1000 };
  const listed = listObjects(store, Bucket, query, new FolderCache()).items.flatMap((item) =>
    "key" in item ? [fromBinary(item.key as never)] : [],
  );
  const missing = await store.missingKeys(Bucket, toBinary(prefix), "", undefined);
  return [...listed, ...missing.map(fromBinary)].sort();
}

async function contentOf(store: Store, key: string): Promise<Buffer> {
  const open = store.open(Bucket, toBinary(key));
  try {
    const blocks: Buffer[] = [];
    const whole = { start: 0, end: open.record.size - 1 };
    for await (const block of readObject(store, Bucket, open, whole)) blocks.push(block);
    return Buffer.concat(blocks);
  } finally {
    open.release();
  }
}

function metadataOf(store: Store, key: string): unknown {
  const record = store.require(Bucket, toBinary(key));
  return [record.etag, record.headers, record.metadata, store.tagsOf(Bucket, toBinary(key), record)];
}

/** Returns the port that readers of checkpoints use, on the store itself. */
function objectsOf(store: Store): Pick<ObjectStore, "list" | "find" | "getContent"> & ObjectStore {
  const find = async (key: string): Promise<Uint8Array | undefined> => {
    try {
      return await contentOf(store, team + key);
    } catch (error) {
      if (error instanceof S3Error && error.code === "NoSuchKey") return undefined;
      if (!isDamage(error)) throw error;
      throw new CorruptObjectError(key, "the bytes that were stored", error.message, error);
    }
  };
  const reader = {
    find,
    list: async (prefix: string) => (await keysOf(store, team + prefix)).map((key) => key.slice(team.length)),
    async getContent(digest: string) {
      const key = objectKeys.content(digest);
      const body = await find(key);
      if (body === undefined || sha256(body) !== digest)
        throw new CorruptObjectError(key, digest, "another or missing");
      return body;
    },
  };
  return reader as unknown as ObjectStore;
}

/** Reads bodies from their files without verification: the campaign must count these as silent. */
export function unverifiedSubject(): Subject {
  return {
    name: "unverified bodies (self-test)",
    owns: (file) => file.endsWith("small+/a=") || file.endsWith("large="),
    build,
    async observe(directory) {
      const seen = new Observation();
      for (const [name, size] of [
        ["small+/a=", 3],
        ["large=", 175_000],
      ] as const) {
        const file = path.join(directory, "buckets", Bucket, "objects", "teams+", "red+", name);
        await seen.read(name, () =>
          fs.existsSync(file) ? sha256(fs.readFileSync(file).subarray(0, size)) : undefined,
        );
      }
      return seen;
    },
  };
}
