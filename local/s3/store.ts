import { randomUUID } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import type { Clock } from "../../core/ports";
import type { WriteCondition } from "./conditions";
import { checkWrite } from "./conditions";
import { Disk, flushDirectory, renameInto } from "./disk";
import { noSuchBucket, noSuchKey, S3Error } from "./errors";
import { type BinaryKey, fromBinary, parseEntry } from "./keys";
import type { Announcement } from "./notifications";
import { Pins } from "./pins";
import { findRecord, type ObjectRecord, openIfThere, readRecord, type Tags } from "./record";

export interface Bucket {
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
}

/** An object that is open for reading: it stays whole until `release`, whatever happens to its key meanwhile. */
export interface OpenObject {
  readonly record: ObjectRecord;
  readonly descriptor: number;
  release(): void;
}

/**
 * Buckets and objects on disk.
 *
 * The one idea that keeps it simple: whatever decides and changes (a condition and the rename, a removal and the folders it leaves
 * empty) happens in one synchronous section of this single-threaded process, so no other request is ever between the two. Everything slow
 * (receiving, hashing, flushing) is done before, on a file that nobody sees.
 */
export class Store {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly #pins = new Pins();

  constructor(dataDirectory: string, clock: Clock) {
    this.disk = new Disk(dataDirectory);
    this.clock = clock;
  }

  // Buckets.

  async createBucket(name: string): Promise<void> {
    const temporary = this.disk.temporary();
    fs.mkdirSync(path.join(temporary, "objects"), { recursive: true });
    fs.mkdirSync(path.join(temporary, "uploads"));
    fs.writeFileSync(path.join(temporary, "bucket.json"), JSON.stringify({ created: this.clock.now() }), {
      flush: true,
    });
    if (this.hasBucket(name)) {
      fs.rmSync(temporary, { recursive: true });
      throw new S3Error(
        409,
        "BucketAlreadyOwnedByYou",
        "Your previous request to create the named bucket succeeded and you already own it.",
        { extra: { BucketName: name } },
      );
    }
    fs.renameSync(temporary, this.disk.bucket(name));
    await flushDirectory(this.disk.buckets());
  }

  hasBucket(name: string): boolean {
    return fs.existsSync(path.join(this.disk.bucket(name), "bucket.json"));
  }

  requireBucket(name: string): void {
    if (!this.hasBucket(name)) throw noSuchBucket(name);
  }

  listBuckets(): readonly Bucket[] {
    return fs
      .readdirSync(this.disk.buckets())
      .sort()
      .map((name) => {
        const file = path.join(this.disk.bucket(name), "bucket.json");
        return { name, created: (JSON.parse(fs.readFileSync(file, "utf8")) as { readonly created: number }).created };
      });
  }

  async deleteBucket(name: string): Promise<void> {
    this.requireBucket(name);
    if (holdsObject(this.disk.objects(name))) {
      throw new S3Error(409, "BucketNotEmpty", "The bucket you tried to delete is not empty", {
        extra: { BucketName: name },
      });
    }
    this.disk.discard(this.disk.bucket(name));
    await flushDirectory(this.disk.buckets());
  }

  // Objects.

  find(bucket: string, key: BinaryKey): ObjectRecord | undefined {
    this.requireBucket(bucket);
    return findRecord<ObjectRecord>(this.disk.object(bucket, key));
  }

  require(bucket: string, key: BinaryKey): ObjectRecord {
    const record = this.find(bucket, key);
    if (!record) throw noSuchKey(fromBinary(key));
    return record;
  }

  open(bucket: string, key: BinaryKey): OpenObject {
    this.requireBucket(bucket);
    const descriptor = openIfThere(this.disk.object(bucket, key));
    if (descriptor === undefined) throw noSuchKey(fromBinary(key));
    try {
      const record = readRecord<ObjectRecord>(descriptor);
      const unpin = record.parts ? this.#pins.pin(record.parts.uploadId) : () => {};
      return {
        record,
        descriptor,
        release: () => {
          fs.closeSync(descriptor);
          unpin();
        },
      };
    } catch (error) {
      fs.closeSync(descriptor);
      throw error;
    }
  }

  /**
   * Makes a finished temporary file the object, if the condition holds at that instant. On return it is durable.
   * @param announcement of the event, in the same synchronous section
   * @param publishParts runs there too, right after the rename (multipart)
   * @throws S3Error 404 NoSuchBucket, 412 PreconditionFailed; the temporary file is then removed
   */
  async publish(
    bucket: string,
    key: BinaryKey,
    temporary: string,
    condition: WriteCondition,
    announcement: Announcement,
    publishParts: () => void = () => {},
  ): Promise<void> {
    const file = this.disk.object(bucket, key);
    try {
      const replaced = this.find(bucket, key);
      checkWrite(condition, replaced, fromBinary(key));
      announced(announcement, () => renameInto(temporary, file));
      publishParts();
      fs.rmSync(`${file}tags`, { force: true });
      this.#retireParts(bucket, replaced);
    } catch (error) {
      fs.rmSync(temporary, { force: true });
      throw error;
    }
    await flushDirectory(path.dirname(file));
  }

  /** Removes the object; fine where there is none. Returns whether there was one. */
  async remove(
    bucket: string,
    key: BinaryKey,
    announcement: Announcement,
    condition: WriteCondition = {},
  ): Promise<boolean> {
    const removed = this.find(bucket, key);
    checkWrite(condition, removed, fromBinary(key));
    if (!removed) return false;
    const file = this.disk.object(bucket, key);
    announced(announcement, () => fs.rmSync(file, { force: true }));
    fs.rmSync(`${file}tags`, { force: true });
    this.#retireParts(bucket, removed);
    const directory = removeEmptyFolders(path.dirname(file), this.disk.objects(bucket));
    await flushDirectory(directory);
    return true;
  }

  #retireParts(bucket: string, record: ObjectRecord | undefined): void {
    if (!record?.parts) return;
    const directory = this.disk.upload(bucket, record.parts.uploadId);
    this.#pins.whenFree(record.parts.uploadId, () => this.disk.discard(directory));
  }

  // Tags.

  /** The tags of an object: those put later, where there are any, else those it was written with. */
  tagsOf(bucket: string, key: BinaryKey, record: ObjectRecord): Tags {
    try {
      const later = JSON.parse(fs.readFileSync(this.disk.tags(bucket, key), "utf8")) as LaterTags;
      return later.writeId === record.writeId ? later.tags : record.tags;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return record.tags;
      throw error;
    }
  }

  async putTags(bucket: string, key: BinaryKey, tags: Tags): Promise<void> {
    const { writeId } = this.require(bucket, key);
    const temporary = await this.disk.writeTemporary(JSON.stringify({ writeId, tags } satisfies LaterTags));
    if (this.find(bucket, key)?.writeId !== writeId) {
      fs.rmSync(temporary);
      throw new S3Error(409, "OperationAborted", "The object was written again while its tags were. Please try again.");
    }
    fs.renameSync(temporary, this.disk.tags(bucket, key));
    await flushDirectory(path.dirname(this.disk.tags(bucket, key)));
  }

  /** What every new record carries. */
  newWrite(): { readonly modified: number; readonly writeId: string } {
    return { modified: this.clock.now(), writeId: randomUUID() };
  }
}

/** No request and no other event comes between the change and its event; a kill does, and finds the journal. */
function announced(announcement: Announcement, change: () => void): void {
  announcement.before();
  try {
    change();
  } catch (error) {
    announcement.cancel();
    throw error;
  }
  announcement.after();
}

interface LaterTags {
  readonly writeId: string;
  readonly tags: Tags;
}

/** Whether an object lies anywhere below. Stops at the first; a folder that a crash left empty does not count. */
export function holdsObject(directory: string): boolean {
  const folder = fs.opendirSync(directory);
  const deeper: string[] = [];
  try {
    for (let entry = folder.readSync(); entry; entry = folder.readSync()) {
      const kind = parseEntry(entry.name)?.kind;
      if (kind === "object") return true;
      if (kind) deeper.push(path.join(directory, entry.name));
    }
  } finally {
    folder.closeSync();
  }
  return deeper.some(holdsObject);
}

/** Removes a folder and those above it as long as they are empty; returns the first one that stays. */
function removeEmptyFolders(directory: string, top: string): string {
  let current = directory;
  while (current !== top) {
    try {
      fs.rmdirSync(current);
    } catch {
      return current; // not empty
    }
    current = path.dirname(current);
  }
  return top;
}
