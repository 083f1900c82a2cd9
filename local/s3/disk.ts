import { randomUUID } from "node:crypto";
import fs from "node:fs";
import { rm } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { makeDirectory } from "../storage/directory";
import { type BinaryKey, relativePath } from "./keys";

// Uses descriptors instead of `FileHandle`, which is slower and closes in the thread pool.
const open = promisify((file: string, flags: string, done: Done<number>) => fs.open(file, flags, done));
const writev = promisify((descriptor: number, chunks: readonly Uint8Array[], done: Done<number>) =>
  fs.writev(descriptor, chunks, done),
);
const fdatasync = promisify((descriptor: number, done: fs.NoParamCallback) => fs.fdatasync(descriptor, done));
type Done<T> = (error: Error | null, result: T) => void;

/**
 * The files under the data directory:
 *
 *     buckets/<bucket>/bucket.json
 *     buckets/<bucket>/notification.json    if events are sent
 *     buckets/<bucket>/objects/…            see keys.ts
 *     buckets/<bucket>/uploads/<id>/        upload.json while open, completed.json after; part-<n>
 *     temporary/                            unfinished writes and removals; emptied at start
 *
 * Nothing is written in place. Files and directories are written under `temporary/` and renamed when they are complete.
 */
export class Disk {
  readonly root: string;
  private readonly temporaryDirectory: string;
  private readonly removals = new Set<Promise<void>>();

  constructor(dataDirectory: string) {
    this.root = path.resolve(dataDirectory);
    this.temporaryDirectory = path.join(this.root, "temporary");
  }

  prepare(): void {
    fs.rmSync(this.temporaryDirectory, { recursive: true, force: true });
    makeDirectory(this.root);
    fs.mkdirSync(this.temporaryDirectory);
    makeDirectory(this.buckets());
  }

  buckets = () => path.join(this.root, "buckets");
  bucket = (bucket: string) => path.join(this.buckets(), bucket);
  objects = (bucket: string) => path.join(this.bucket(bucket), "objects");
  object = (bucket: string, key: BinaryKey) => path.join(this.objects(bucket), relativePath(key));
  uploads = (bucket: string) => path.join(this.bucket(bucket), "uploads");
  upload = (bucket: string, uploadId: string) => path.join(this.uploads(bucket), uploadId);
  part = (bucket: string, uploadId: string, number: number) =>
    path.join(this.upload(bucket, uploadId), `part-${number}`);
  temporary = () => path.join(this.temporaryDirectory, randomUUID());

  /** Moves a tree away at once and removes it in the background. After a crash the next start removes it. */
  discard(file: string): void {
    const trash = this.temporary();
    try {
      fs.renameSync(file, trash);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
      throw error;
    }
    const removal = rm(trash, { recursive: true, force: true }).catch(() => {}); // The next start removes it otherwise.
    this.removals.add(removal);
    void removal.then(() => this.removals.delete(removal));
  }

  async settle(): Promise<void> {
    await Promise.all(this.removals);
  }

  async writeTemporary(content: string | Uint8Array): Promise<string> {
    const file = this.temporary();
    await writeFlushed(file, content);
    return file;
  }
}

export async function writeFlushed(file: string, content: string | Uint8Array): Promise<void> {
  const writer = await FileWriter.create(file);
  try {
    await writer.write(typeof content === "string" ? Buffer.from(content) : content);
    await writer.finish();
  } catch (error) {
    await writer.abandon();
    throw error;
  }
}

const batchBytes = 1024 ** 2;

/**
 * Appends to a new file. One batch is written while the next one is collected and hashed. Disk and processor work in
 * parallel, with at most two batches in memory.
 */
export class FileWriter {
  readonly file: string;
  private readonly descriptor: number;
  private batch: Uint8Array[] = [];
  private batchSize = 0;
  private writing: Promise<void> = Promise.resolve();
  private closed = false;

  private constructor(file: string, descriptor: number) {
    this.file = file;
    this.descriptor = descriptor;
  }

  static async create(file: string): Promise<FileWriter> {
    return new FileWriter(file, await open(file, "wx"));
  }

  /** Appends a chunk. Returns undefined if the caller need not wait. */
  write(chunk: Uint8Array): Promise<void> | undefined {
    this.batch.push(chunk);
    this.batchSize += chunk.length;
    return this.batchSize < batchBytes ? undefined : this.flush();
  }

  private async flush(): Promise<void> {
    const batch = this.batch;
    this.batch = [];
    this.batchSize = 0;
    await this.writing;
    this.writing = this.writeAll(batch);
    // The next flush reports a failure. Until then it must not count as unhandled.
    this.writing.catch(() => {});
  }

  private async writeAll(batch: Uint8Array[]): Promise<void> {
    let left = batch;
    while (left.length > 0) {
      let bytesWritten = await writev(this.descriptor, left);
      // A short write precedes the error that explains it, such as a full disk.
      const rest: Uint8Array[] = [];
      for (const chunk of left) {
        if (bytesWritten >= chunk.length) bytesWritten -= chunk.length;
        else {
          rest.push(chunk.subarray(bytesWritten));
          bytesWritten = 0;
        }
      }
      left = rest;
    }
  }

  async finish(): Promise<void> {
    await this.flush();
    await this.writing;
    await fdatasync(this.descriptor);
    this.close();
  }

  async abandon(): Promise<void> {
    await this.writing.catch(() => {});
    this.close();
    fs.rmSync(this.file, { force: true });
  }

  /** Closes the file once. Even after a failed close the descriptor may belong to another file. */
  private close(): void {
    if (this.closed) return;
    this.closed = true;
    fs.closeSync(this.descriptor);
  }
}
