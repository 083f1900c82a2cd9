import fs from "node:fs";
import path from "node:path";
import { bytes, failure, newBucket, put, putParts, text } from "./contract/target";
import { type RunningS3, startS3, temporaryDirectory } from "./harness";

function filesBelow(directory: string): readonly string[] {
  return fs
    .readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)));
}

describe("beyond the contract", () => {
  let s3: RunningS3;
  let Bucket: string;
  const now = Date.UTC(2026, 0, 2, 3, 4, 5);
  beforeAll(async () => {
    s3 = await startS3({ clock: { now: () => now } });
    Bucket = await newBucket(s3);
  });
  afterAll(() => s3.close());

  it.each(["never-made", "x".repeat(300), "a\u0000b"])("has no bucket %j", async (name) => {
    const target = { Bucket: name, Key: "k" };
    expect(await failure(s3.client.deleteObject({ ...target, VersionId: "v" }))).toBe("404 NoSuchBucket");
    expect(await failure(s3.client.getObject(target))).toBe("404 NoSuchBucket");
    expect(await failure(put(s3, name, "k"))).toBe("404 NoSuchBucket");
  });

  /** Keys that S3 supports but MinIO does not, or not together. */
  const odd = [
    "a",
    "a/",
    "a//b",
    "a/b",
    "../x",
    "..",
    ".",
    "/lead",
    "a/../b",
    "%2e%2e",
    "A",
    " ",
    "+",
    "\u{1f600}".repeat(256),
    "x".repeat(1024),
    "é/".repeat(341),
  ];

  it("keeps odd keys apart, lists them in order and never leaves its directory", async () => {
    const name = await newBucket(s3);
    for (const key of odd) await put(s3, name, key, `<${key}>`);
    for (const key of odd) expect(await text(s3, name, key)).toBe(`<${key}>`);
    const { Contents } = await s3.client.listObjectsV2({ Bucket: name });
    const sorted = [...odd].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(Contents!.map(({ Key }) => Key)).toEqual(sorted);
    expect(fs.readdirSync(s3.directory).sort()).toEqual(["buckets", "notifications.ndjson", "temporary"]);
    for (const key of odd) await s3.client.deleteObject({ Bucket: name, Key: key });
    expect(fs.readdirSync(path.join(s3.directory, "buckets", name, "objects"))).toEqual([]);
  });

  it("publishes S3's events of each write if the bucket has notifications", async () => {
    await put(s3, Bucket, "silent", "abc");
    expect(s3.events).toEqual([]);
    const NotificationConfiguration = { EventBridgeConfiguration: {} };
    await s3.client.putBucketNotificationConfiguration({ Bucket, NotificationConfiguration });
    const etag = (await put(s3, Bucket, "runs/r 1", "abc")).replaceAll('"', "");
    await s3.client.copyObject({ Bucket, Key: "copy", CopySource: `${Bucket}/runs/r%201` });
    await putParts(s3, Bucket, "multi", ["xyz"]);
    await s3.client.deleteObject({ Bucket, Key: "copy" });
    await s3.client.deleteObject({ Bucket, Key: "copy" });
    await failure(s3.client.putObject({ Bucket, Key: "runs/r 1", Body: "x", IfNoneMatch: "*" }));
    expect(s3.events[0]).toEqual({
      source: "aws.s3",
      detailType: "Object Created",
      resources: [`arn:aws:s3:::${Bucket}`],
      detail: {
        version: "0",
        bucket: { name: Bucket },
        object: { key: "runs/r 1", size: 3, etag, sequencer: expect.stringMatching(/^[0-9A-F]{16}$/) },
        "request-id": expect.any(String),
        requester: "000000000000",
        "source-ip-address": expect.any(String),
        reason: "PutObject",
      },
    });
    const brief = s3.events.map(({ detailType, detail }) => {
      const { reason, object } = detail as { reason: string; object: { key: string } };
      return [detailType, object.key, reason];
    });
    expect(brief).toEqual([
      ["Object Created", "runs/r 1", "PutObject"],
      ["Object Created", "copy", "CopyObject"],
      ["Object Created", "multi", "CompleteMultipartUpload"],
      ["Object Deleted", "copy", "DeleteObject"],
    ]);
    await s3.client.putBucketNotificationConfiguration({ Bucket, NotificationConfiguration: {} });
    await put(s3, Bucket, "silent", "again");
    expect(s3.events).toHaveLength(4);
    const queue = { QueueArn: "arn:aws:sqs:us-east-1:000000000000:q", Events: ["s3:ObjectCreated:*" as const] };
    const toQueue = { Bucket, NotificationConfiguration: { QueueConfigurations: [queue] } };
    expect(await failure(s3.client.putBucketNotificationConfiguration(toQueue))).toBe("501 NotImplemented");
  });

  it("deletes only the version that If-Match names", async () => {
    const etag = await put(s3, Bucket, "guarded", "new");
    const remove = (IfMatch: string) => failure(s3.client.deleteObject({ Bucket, Key: "guarded", IfMatch }));
    expect(await remove('"0123456789abcdef0123456789abcdef"')).toBe("412 PreconditionFailed");
    expect(await text(s3, Bucket, "guarded")).toBe("new");
    expect(await remove(etag)).toBe("no error");
    expect(await failure(text(s3, Bucket, "guarded"))).toBe("404 NoSuchKey");
  });

  it("deletes only the version that its id names, alone and with others", async () => {
    await put(s3, Bucket, "versioned", "old");
    const { VersionId } = await s3.client.headObject({ Bucket, Key: "versioned" });
    await put(s3, Bucket, "versioned", "new");
    await s3.client.deleteObject({ Bucket, Key: "versioned", VersionId });
    const old = { Key: "versioned", VersionId };
    await s3.client.deleteObjects({ Bucket, Delete: { Objects: [old] } });
    expect(await text(s3, Bucket, "versioned")).toBe("new");
    const { Versions } = await s3.client.listObjectVersions({ Bucket, Prefix: "versioned" });
    expect(Versions).toMatchObject([{ Key: "versioned", IsLatest: true, Size: 3 }]);
    const latest = { Key: "versioned", VersionId: Versions![0]!.VersionId };
    await s3.client.deleteObjects({ Bucket, Delete: { Objects: [latest] } });
    expect(await failure(text(s3, Bucket, "versioned"))).toBe("404 NoSuchKey");
  });

  it("lists versions in pages", async () => {
    for (const key of ["page/a", "page/b", "page/c"]) await put(s3, Bucket, key, key);
    const pageAfter = (KeyMarker?: string) =>
      s3.client.listObjectVersions({ Bucket, Prefix: "page/", MaxKeys: 2, KeyMarker });
    const first = await pageAfter();
    expect([first.Versions?.map(({ Key }) => Key), first.IsTruncated]).toEqual([["page/a", "page/b"], true]);
    const second = await pageAfter(first.NextKeyMarker);
    expect([second.Versions?.map(({ Key }) => Key), second.IsTruncated]).toEqual([["page/c"], false]);
  });

  it("returns the requested encryption", async () => {
    const answer = await s3.client.putObject({ Bucket, Key: "sse", Body: "x", ServerSideEncryption: "AES256" });
    const head = await s3.client.headObject({ Bucket, Key: "sse" });
    expect([answer.ServerSideEncryption, head.ServerSideEncryption]).toEqual(["AES256", "AES256"]);
    expect(head.LastModified).toEqual(new Date(now));
  });

  it("repeats the answer to a completion whose answer was lost", async () => {
    const Key = "completed-twice";
    const completion = await putParts(s3, Bucket, Key, ["x"]);
    const { ETag } = await s3.client.headObject({ Bucket, Key });
    expect((await s3.client.completeMultipartUpload(completion)).ETag).toBe(ETag);
    await put(s3, Bucket, Key, "replaced");
    expect(await failure(s3.client.completeMultipartUpload(completion))).toBe("404 NoSuchUpload");
  });

  it("finishes a download of an object that is replaced in the meantime", async () => {
    const Key = "replaced-while-read";
    const body = bytes(12 * 1024 ** 2, 9);
    const half = 6 * 1024 ** 2;
    await putParts(s3, Bucket, Key, [body.subarray(0, half), body.subarray(half)]);
    const got = await s3.client.getObject({ Bucket, Key });
    await put(s3, Bucket, Key, "replaced");
    expect(Buffer.from(await got.Body!.transformToByteArray()).equals(body)).toBe(true);
    expect(await text(s3, Bucket, Key)).toBe("replaced");
  });
});

it("finds everything again after a restart, and deletes unfinished writes", async () => {
  const directory = temporaryDirectory();
  const first = await startS3({ directory });
  const Bucket = await newBucket(first);
  await put(first, Bucket, "kept", "kept");
  const { UploadId } = await first.client.createMultipartUpload({ Bucket, Key: "open" });
  const part = { Bucket, Key: "open", UploadId, PartNumber: 1 };
  const { ETag } = await first.client.uploadPart({ ...part, Body: "part" });
  await first.close();
  fs.writeFileSync(path.join(directory, "temporary", "half"), "half an object");

  const second = await startS3({ directory });
  expect(filesBelow(path.join(directory, "temporary"))).toEqual([]);
  expect(await text(second, Bucket, "kept")).toBe("kept");
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
  await second.client.completeMultipartUpload({ Bucket, Key: "open", UploadId, MultipartUpload });
  expect(await text(second, Bucket, "open")).toBe("part");
  await second.close();
  fs.rmSync(directory, { recursive: true });
});

it("repairs a completion that was killed between its two renames, and removes unused parts", async () => {
  const directory = temporaryDirectory();
  const first = await startS3({ directory });
  const Bucket = await newBucket(first);
  const upload = async (Key: string) => {
    const { UploadId } = await putParts(first, Bucket, Key, [Key]);
    return path.join(directory, "buckets", Bucket, "uploads", UploadId);
  };
  const published = await upload("published");
  const orphaned = await upload("orphaned");
  await first.close();
  fs.renameSync(path.join(published, "completed.json"), path.join(published, "upload.json"));
  fs.rmSync(path.join(directory, "buckets", Bucket, "objects", "orphaned="));

  const second = await startS3({ directory });
  expect(fs.readdirSync(published).sort()).toEqual(["completed.json", "part-1"]);
  expect(fs.existsSync(orphaned)).toBe(false);
  expect(await text(second, Bucket, "published")).toBe("published");
  await second.close();
  fs.rmSync(directory, { recursive: true });
});
