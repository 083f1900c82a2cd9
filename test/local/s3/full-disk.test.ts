import fs from "node:fs";
import path from "node:path";
import type { S3ServiceException } from "@aws-sdk/client-s3";
import { mountSmallDisk } from "../../support/small-disk";
import { bytes, failure, newBucket, put, text } from "./contract/target";
import { type RunningS3, startS3 } from "./harness";

async function expectFullDisk(s3: RunningS3, write: Promise<unknown>): Promise<void> {
  const error = await write.then(
    () => undefined,
    (thrown: S3ServiceException) => thrown,
  );
  expect(error).toMatchObject({ name: "ServiceUnavailable", $metadata: { httpStatusCode: 507, attempts: 1 } });
  expect(error!.message).toContain(`The disk that holds ${s3.directory} is full (ENOSPC)`);
  expect(error!.message).toContain("Free some space");
  expect(fs.readdirSync(path.join(s3.directory, "temporary"))).toEqual([]);
}

it("answers 507 when a write finds no space, keeps the old object, and continues", async () => {
  const s3 = await startS3();
  const Bucket = await newBucket(s3);
  await put(s3, Bucket, "key", "old");
  const noSpace = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
  const spy = jest.spyOn(fs, "writev").mockImplementation((...args: unknown[]) => {
    setImmediate(args.at(-1) as (error: Error) => void, noSpace);
  });
  try {
    await expectFullDisk(s3, put(s3, Bucket, "key", "new"));
    await expectFullDisk(s3, put(s3, Bucket, "new-key", bytes(3_000_000)));
  } finally {
    spy.mockRestore();
  }
  expect(await text(s3, Bucket, "key")).toBe("old");
  expect(await failure(text(s3, Bucket, "new-key"))).toBe("404 NoSuchKey");
  await put(s3, Bucket, "key", "new");
  expect(await text(s3, Bucket, "key")).toBe("new");
  await s3.close();
});

const disk = mountSmallDisk(4);
afterAll(() => disk?.unmount());

(disk ? it : it.skip)("survives a disk that is really full", async () => {
  const s3 = await startS3({ directory: disk!.directory });
  const Bucket = await newBucket(s3);
  await put(s3, Bucket, "first", bytes(2_000_000));
  const write = s3.client.putObject({ Bucket, Key: "second", Body: bytes(3_000_000) });
  await expectFullDisk(s3, write);
  expect(await failure(text(s3, Bucket, "second"))).toBe("404 NoSuchKey");
  await put(s3, Bucket, "small", "still here");
  expect(await text(s3, Bucket, "small")).toBe("still here");
  await s3.close();
});
