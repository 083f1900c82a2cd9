import fs from "node:fs";
import path from "node:path";
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { newBucket, put } from "./contract/target";
import { type RunningS3, startS3 } from "./harness";

/** Records every flushed path, by its name at that time. @param onDirectory called before a directory is flushed */
function recordFlushes(onDirectory: (directory: string) => void): {
  readonly flushed: string[];
  restore(): void;
} {
  const flushed: string[] = [];
  const spies = (["fsync", "fdatasync"] as const).map((name) => {
    const original = fs[name];
    return jest.spyOn(fs, name).mockImplementation((descriptor, done) => {
      const file = fs.readlinkSync(`/proc/self/fd/${descriptor}`);
      if (name === "fsync") onDirectory(file);
      flushed.push(file);
      original(descriptor, done);
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
  let record: ReturnType<typeof recordFlushes>;
  let onFlush: (directory: string) => void = () => undefined;
  beforeAll(async () => {
    record = recordFlushes((directory) => onFlush(directory));
    s3 = await startS3();
    Bucket = await newBucket(s3);
    root = path.join(fs.realpathSync(s3.directory), "buckets");
  });
  beforeEach(() => {
    record.flushed.length = 0;
    onFlush = () => undefined;
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

  async function upload(Key: string): Promise<string> {
    const { UploadId = "" } = await s3.client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    const { ETag } = await s3.client.send(
      new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 1, Body: "part" }),
    );
    const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
    await s3.client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload }));
    return UploadId;
  }

  it.each([
    ["replacement", (Key: string) => put(s3, Bucket, Key, "x")],
    ["removal", (Key: string) => s3.client.send(new DeleteObjectCommand({ Bucket, Key }))],
  ])("keeps an object's parts until its %s is flushed", async (name, change) => {
    const Key = `parts/${name}`;
    const part = below("uploads", await upload(Key), "part-1");
    const seen: boolean[] = [];
    onFlush = (directory) => {
      if (directory.startsWith(below("objects"))) seen.push(fs.existsSync(part));
    };
    await change(Key);
    expect(seen).not.toEqual([]);
    expect(seen).not.toContain(false);
    expect(fs.existsSync(part)).toBe(false);
  });

  it("keeps an upload open until its object is flushed", async () => {
    const seen: boolean[] = [];
    const uploads = () => fs.readdirSync(below("uploads")).map((id) => fs.readdirSync(below("uploads", id)));
    onFlush = (directory) => {
      if (directory === below("objects", "open+")) seen.push(uploads().some((names) => names.includes("upload.json")));
    };
    await upload("open/x");
    expect(seen).toEqual([true]);
    expect(uploads().flat()).not.toContain("upload.json");
  });

  it("of a key in a directory that another request creates also waits for that directory", async () => {
    const { begun, release } = holdFlush(below("objects"));
    const first = put(s3, Bucket, "made/a", "1");
    await begun;
    record.flushed.length = 0;
    await put(s3, Bucket, "made/b", "2");
    expect(record.flushed).toEqual(expect.arrayContaining([below("objects", "made+"), below("objects")]));
    release();
    await first;
  });

  it("delays a request that is refused because of it", async () => {
    const { begun, release } = holdFlush(below("objects"));
    let answered = "";
    const first = put(s3, Bucket, "contended", "1").then(() => {
      answered += "first ";
    });
    await begun;
    const second = s3.client
      .send(new PutObjectCommand({ Bucket, Key: "contended", Body: "2", IfNoneMatch: "*" }))
      .catch((error: Error) => {
        answered += error.name;
      });
    // A request that does not wait for it is answered in the meantime.
    await put(s3, Bucket, "elsewhere/x", "3");
    expect(answered).toBe("");
    release();
    await Promise.all([first, second]);
    expect(answered).toMatch(/^(?=.*first)(?=.*PreconditionFailed)/);
  });
});

/** Delays the end of the next flush of a directory. */
function holdFlush(directory: string): { readonly begun: Promise<void>; release(): void } {
  const spy = jest.mocked(fs.fsync);
  const flush = spy.getMockImplementation()!;
  let release = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    spy.mockImplementation((descriptor, callback) => {
      if (fs.readlinkSync(`/proc/self/fd/${descriptor}`) !== directory) return flush(descriptor, callback);
      spy.mockImplementation(flush);
      release = () => flush(descriptor, callback);
      resolve();
    });
  });
  return { begun, release: () => release() };
}
