import fs from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { newBucket, put } from "./contract/target";
import { type RunningS3, startS3 } from "./harness";

/** Everything that was flushed, by its path at that time. */
async function recordFlushes(): Promise<{ readonly flushed: string[]; restore(): void }> {
  const flushed: string[] = [];
  const handle = await open(__filename);
  const prototype = Object.getPrototypeOf(handle) as typeof handle;
  await handle.close();
  const spies = (["sync", "datasync"] as const).map((name) => {
    const original = prototype[name];
    return jest.spyOn(prototype, name).mockImplementation(function (this: typeof handle) {
      flushed.push(fs.readlinkSync(`/proc/self/fd/${this.fd}`));
      return original.call(this);
    });
  });
  return {
    flushed,
    restore: () => {
      for (const spy of spies) spy.mockRestore();
    },
  };
}

// The path of an open file is read from /proc.
const onLinux = process.platform === "linux" ? describe : describe.skip;

onLinux("an acknowledged write", () => {
  let s3: RunningS3;
  let Bucket: string;
  let root: string;
  let record: Awaited<ReturnType<typeof recordFlushes>>;
  beforeAll(async () => {
    record = await recordFlushes();
    s3 = await startS3();
    Bucket = await newBucket(s3);
    root = path.join(fs.realpathSync(s3.directory), "buckets");
  });
  beforeEach(() => {
    record.flushed.length = 0;
  });
  afterAll(async () => {
    record.restore();
    await s3.close();
  });

  const below = (...names: string[]) => path.join(root, Bucket, ...names);
  const temporary = () => record.flushed.filter((file) => path.basename(path.dirname(file)) === "temporary");

  it("of a new key has its file, and every new directory up to a known one, flushed", async () => {
    await put(s3, Bucket, "a/b/c", "x");
    expect(temporary()).toHaveLength(1);
    expect(record.flushed).toEqual(
      expect.arrayContaining([below("objects", "a+", "b+"), below("objects", "a+"), below("objects")]),
    );
  });

  it("of a known key has its file and its directory flushed", async () => {
    await put(s3, Bucket, "known/x", "1");
    record.flushed.length = 0;
    await put(s3, Bucket, "known/x", "2");
    expect(temporary()).toHaveLength(1);
    expect(record.flushed).toContain(below("objects", "known+"));
  });

  it("of a bucket and of a removal has what it changed flushed", async () => {
    const other = await newBucket(s3);
    expect(record.flushed).toContain(root);
    await put(s3, other, "x", "1");
    record.flushed.length = 0;
    await s3.client.send(new DeleteObjectCommand({ Bucket: other, Key: "x" }));
    expect(record.flushed).toContain(path.join(root, other, "objects"));
  });

  it("of a multipart upload has its parts, its record and their directories flushed", async () => {
    const Key = "multipart/x";
    const { UploadId = "" } = await s3.client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    expect(record.flushed).toContain(below("uploads"));
    const { ETag } = await s3.client.send(
      new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 1, Body: "part" }),
    );
    expect(record.flushed).toContain(below("uploads", UploadId));
    record.flushed.length = 0;
    const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
    await s3.client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload }));
    expect(temporary()).toHaveLength(1);
    expect(record.flushed).toEqual(expect.arrayContaining([below("objects", "multipart+"), below("objects")]));
  });
});
