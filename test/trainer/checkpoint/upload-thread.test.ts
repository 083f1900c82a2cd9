import fs from "node:fs";
import path from "node:path";
import { CreateBucketCommand } from "@aws-sdk/client-s3";
import { createObjectStore } from "../../../adapters/s3/object-store";
import { SnapshotSpace } from "../../../trainer-container/checkpoint/snapshot";
import { fileOf, readLive, type StateFiles, storeState } from "../../../trainer-container/checkpoint/state-files";
import { createUploadThread } from "../../../trainer-container/checkpoint/upload-thread";
import type { ParameterSlot } from "../../../trainer-container/engine/engine";
import { createMemoryObjectStore } from "../../adapters/s3/memory-object-store";
import { type RunningS3, startS3 } from "../../local/s3/harness";
import { bundleWorker, useService } from "../../support/bundle";

const slot = (name: string, offset: number, size: number): ParameterSlot => ({
  name,
  shape: [size],
  offset,
  size,
  trainable: true,
});
/** A group of several parts, and one that is a part alone. */
const slots = [slot("large", 0, 4_500_000), slot("small", 4_500_000, 1_000)];
const files: StateFiles = {
  groups: slots.map((one) => fileOf("weights", [one])),
  weights: fileOf("weights", slots),
};

const places = { runId: "run-1", step: 1, earlier: {} };

describe("the thread that uploads checkpoints", () => {
  let s3: RunningS3;
  let folder: string;
  let script: string;
  let values: Float32Array;
  beforeAll(async () => {
    ({ folder, script } = bundleWorker("checkpoint/upload-worker"));
    s3 = await startS3();
    await s3.client.send(new CreateBucketCommand({ Bucket: "bucket" }));
    useService(s3.endpoint);
    values = Float32Array.from({ length: 4_501_000 }, (_, i) => i);
  });
  afterAll(async () => {
    await s3.close();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  it("stores a copy that lies in memory and in a file, though the state has changed since", async () => {
    const expected = await storeState(createMemoryObjectStore(), files, readLive([values]), places);
    const live = values.slice();
    const space = new SnapshotSpace(folder, 1_000_001);
    const snapshot = space.take([live]);
    const frozen = (await snapshot.kept)!;
    expect(frozen.file).toBeDefined();
    live.fill(0);
    const upload = createUploadThread(script, { bucket: "bucket", prefix: "teams/red/" });
    expect(await upload(frozen, files, places)).toEqual(expected);
    expect(await upload(frozen, files, places)).toEqual(expected);
    const store = createObjectStore(s3.client, "bucket", "teams/red/");
    const { sha256, bytes, key } = expected.tensors[0]!;
    expect(await store.getContent(sha256, key)).toHaveLength(bytes);
    snapshot.release();
    space.close();
    expect(fs.readdirSync(folder)).toEqual(["worker.js"]); // the file has no name
  });

  it("says what failed, and takes the next upload", async () => {
    const frozen = { memory: new Uint8Array(new SharedArrayBuffer(values.byteLength)) };
    const upload = createUploadThread(script, { bucket: "no-such-bucket", prefix: "" });
    await expect(upload(frozen, files, places)).rejects.toMatchObject({
      name: "UploadError",
      message: expect.any(String),
    });
    const short = { memory: new Uint8Array(new SharedArrayBuffer(8)) };
    await expect(upload(short, files, places)).rejects.toThrow("was requested of a state");
  });

  it("that dies fails its uploads, and the next one starts another", async () => {
    const dying = path.join(folder, "dying.js");
    const marker = JSON.stringify(path.join(folder, "died"));
    fs.writeFileSync(
      dying,
      `const { existsSync, writeFileSync } = require("node:fs");
       const { parentPort } = require("node:worker_threads");
       parentPort.on("message", ({ id }) => {
         if (existsSync(${marker})) parentPort.postMessage({ id, stored: { tensors: [], weightsSha256: "again" } });
         else { writeFileSync(${marker}, ""); process.exit(7); }
       });`,
    );
    const upload = createUploadThread(dying, { bucket: "bucket", prefix: "teams/red/" });
    const frozen = { memory: new Uint8Array(new SharedArrayBuffer(8)) };
    await expect(upload(frozen, files, places)).rejects.toThrow("ended with code 7");
    expect(await upload(frozen, files, places)).toEqual({ tensors: [], weightsSha256: "again" });
  });
});
