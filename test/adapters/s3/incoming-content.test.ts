import { createHash, randomBytes } from "node:crypto";
import { CompleteMultipartUploadCommand, ListMultipartUploadsCommand } from "@aws-sdk/client-s3";
import { copyObject } from "../../../adapters/s3/copy-object";
import { createIncomingContent, type IncomingContent, type UploadedPart } from "../../../adapters/s3/incoming-content";
import { createObjectStore } from "../../../adapters/s3/object-store";
import { sha256 } from "../../../core/digest";
import type { ObjectStore } from "../../../core/ports";
import { localConfig } from "../../../stack/settings";
import { useEmbedded } from "../../support/embedded";

const mebibyte = 1024 * 1024;
const { bucket } = localConfig();

describe("content with an unknown digest", () => {
  const embedded = useEmbedded();
  let objects: ObjectStore;
  let landing: ObjectStore;
  let incoming: IncomingContent;
  beforeAll(() => {
    objects = createObjectStore(embedded.s3, bucket, "teams/vision/");
    landing = createObjectStore(embedded.s3, bucket, "teams/.incoming/vision/");
    incoming = createIncomingContent(embedded.s3, bucket, "vision", objects);
  });

  const digestOf = (body: Uint8Array): string => createHash("sha256").update(body).digest("hex");
  /** Returns the keys of objects other than receipts. */
  const leftovers = async (): Promise<readonly string[]> => {
    const keys = (await landing.list("")).filter((key) => !key.endsWith(".json"));
    const sizes = await Promise.all(keys.map((key) => landing.size(key)));
    return keys.filter((_, i) => sizes[i] !== 0);
  };
  const openUploads = async () =>
    (await embedded.s3.send(new ListMultipartUploadsCommand({ Bucket: bucket }))).Uploads ?? [];

  async function* inChunks(body: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < body.length; at += size) yield body.subarray(at, at + size);
  }

  async function put(urls: readonly string[], parts: readonly Uint8Array[]): Promise<UploadedPart[]> {
    const made: UploadedPart[] = [];
    for (const [i, part] of parts.entries()) {
      const { headers, status } = await fetch(urls[i]!, { method: "PUT", body: part as Uint8Array<ArrayBuffer> });
      expect(status).toBe(200);
      made.push({ number: i + 1, etag: headers.get("etag")! });
    }
    return made;
  }

  it.each([
    ["nothing", 0, 1000],
    ["a few bytes", 11, 4],
    ["just one part", 8 * mebibyte, mebibyte],
    ["several parts", 20 * mebibyte + 12_345, 777_777],
  ])("takes %s as it comes, and keeps it under its digest alone", async (_what, size, chunk) => {
    const body = randomBytes(size);
    const content = await incoming.receive(inChunks(body, chunk), "text/plain");
    expect(content).toEqual({ sha256: digestOf(body), bytes: size });
    expect(Buffer.from(await objects.getContent(content.sha256)).equals(body)).toBe(true);
    expect(await leftovers()).toEqual([]);
    expect(await openUploads()).toEqual([]);
  });

  it("stores existing content only once, and leaves nothing behind", async () => {
    const body = randomBytes(9 * mebibyte);
    const first = await incoming.receive(inChunks(body, mebibyte));
    expect(await incoming.receive(inChunks(body, mebibyte))).toEqual(first);
    expect([await leftovers(), await openUploads()]).toEqual([[], []]);
  });

  it("aborts an interrupted body", async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield randomBytes(17 * mebibyte);
      throw new Error("the line is dead");
    }
    await expect(incoming.receive(broken())).rejects.toThrow("the line is dead");
    expect([await leftovers(), await openUploads()]).toEqual([[], []]);
  });

  it("completes parts that were sent to the store, and repeats its answer", async () => {
    const body = randomBytes(16 * mebibyte + 5);
    const { upload, urls } = await incoming.begin(3);
    const parts = await put(urls, [
      body.subarray(0, 8 * mebibyte),
      body.subarray(8 * mebibyte, 16 * mebibyte),
      body.subarray(16 * mebibyte),
    ]);
    const content = { sha256: digestOf(body), bytes: body.length };
    expect(await incoming.complete(upload, [...parts].reverse())).toEqual(content);
    expect(await incoming.complete(upload, parts)).toEqual(content);
    expect(Buffer.from(await objects.getContent(content.sha256)).equals(body)).toBe(true);
    expect([await leftovers(), await openUploads()]).toEqual([[], []]);
  });

  it("continues after a death between the store's completion and its own", async () => {
    const body = randomBytes(100);
    const { upload, urls } = await incoming.begin(1);
    const parts = await put(urls, [body]);
    const name = upload.slice(0, 36);
    await embedded.s3.send(
      new CompleteMultipartUploadCommand({
        Bucket: bucket,
        Key: `teams/.incoming/vision/${name}`,
        UploadId: upload.slice(37),
        MultipartUpload: { Parts: [{ PartNumber: 1, ETag: parts[0]!.etag }] },
      }),
    );
    expect(await incoming.complete(upload, parts)).toEqual({ sha256: digestOf(body), bytes: 100 });
    expect(await leftovers()).toEqual([]);
  });

  it("refuses parts of other uploads, and missing uploads", async () => {
    const { upload, urls } = await incoming.begin(2);
    await put(urls, [randomBytes(10)]);
    await expect(incoming.complete(upload, [{ number: 1, etag: '"00"' }])).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
    const small = await put(urls, [randomBytes(10), randomBytes(10)]);
    await expect(incoming.complete(upload, small)).rejects.toMatchObject({ code: "INVALID_INPUT" });
    await incoming.abort(upload);
    await incoming.abort(upload);
    await expect(incoming.complete(upload, small)).rejects.toMatchObject({ code: "UPLOAD_NOT_FOUND" });
    await expect(incoming.complete("../../x", small)).rejects.toMatchObject({ code: "UPLOAD_NOT_FOUND" });
    const other = createIncomingContent(embedded.s3, bucket, "audio", objects);
    const { upload: theirs } = await other.begin(1);
    await expect(incoming.complete(theirs, small)).rejects.toMatchObject({ code: "UPLOAD_NOT_FOUND" });
    await other.abort(theirs);
  });

  it("copies an object that is too large for one request in pieces", async () => {
    const body = randomBytes(6 * mebibyte + 17);
    await objects.put("incoming/large", body);
    const content = { sha256: sha256(body), bytes: body.length };
    const from = { key: "teams/vision/incoming/large", ...content, contentType: "text/plain" };
    await copyObject(embedded.s3, bucket, from, "teams/vision/runs/copy", { largest: 5 * mebibyte });
    expect(Buffer.from(await objects.get("runs/copy")).equals(body)).toBe(true);
    await objects.delete("incoming/large");
  });
});
