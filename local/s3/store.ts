import { randomUUID } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { BoundedMap } from "../bounded-map";
import type { Time } from "../clock";
import { Buckets } from "./buckets";
import { checkWrite, type RemovalCondition, type WriteCondition } from "./conditions";
import { DamagedFileError, isDamage, namingDamage } from "./damage";
import { Directories } from "./directories";
import type { Disk } from "./disk";
import { noSuchKey, type S3Error } from "./errors";
import { type BinaryKey, fromBinary, toBinary } from "./keys";
import { type Announcement, announced } from "./notifications";
import { findRecord, type ObjectRecord, openIfThere, readRecord, type StoredFile } from "./record";

class Pins {
  private readonly readers = new Map<string, number>();
  private readonly removals = new Map<string, () => void>();

  pin(name: string): () => void {
    this.readers.set(name, (this.readers.get(name) ?? 0) + 1);
    return () => {
      const left = this.readers.get(name)! - 1;
      if (left > 0) this.readers.set(name, left);
      else {
        this.readers.delete(name);
        this.removals.get(name)?.();
        this.removals.delete(name);
      }
    };
  }

  /** Removes a resource at once, or when its last reader has released it. */
  whenFree(name: string, remove: () => void): void {
    if (this.readers.has(name)) this.removals.set(name, remove);
    else remove();
  }
}

/** An object that is open for reading. It stays complete until `release`, even if its key changes in the meantime. */
export interface OpenObject extends StoredFile<ObjectRecord> {
  readonly descriptor: number;
  release(): void;
}

const maxKnownDamage = 1000;

/** The version of an object with a damaged record: it exists, and no `If-Match` but `*` matches it. */
const damagedVersion = { etag: "" } as const;

/**
 * The objects on disk.
 *
 * Each check and the change that depends on it (a condition and the rename, a removal and the removal of empty folders)
 * are in one synchronous section of this single-threaded process, so no other request can come between them. Slow work
 * (receiving, hashing, syncing) is done before, on a file that is not visible yet.
 */
export class Store {
  readonly buckets: Buckets;
  private readonly directories = new Directories();
  private readonly pins = new Pins();
  /** The syncs of changes that are already visible to requests, by file. */
  private readonly flushing = new Map<string, Promise<void>>();
  /**
   * Damage that a reader found after its answer had begun, by write. The client's next request gets the error at once.
   */
  private readonly knownDamage = new BoundedMap<string, S3Error>(maxKnownDamage);

  constructor(
    readonly disk: Disk,
    readonly clock: Time,
  ) {
    this.buckets = new Buckets(disk, clock);
  }

  /**
   * Returns the record of an object.
   * @throws S3Error 500 if the record is damaged
   */
  find(bucket: string, key: BinaryKey): ObjectRecord | undefined {
    this.buckets.require(bucket);
    return this.recordOf(bucket, key);
  }

  recordOf(bucket: string, key: BinaryKey): ObjectRecord | undefined {
    return namingDamage(bucket, key, () => {
      const record = findRecord<ObjectRecord>(this.disk.object(bucket, key));
      return record && requireOwn(record, bucket, key);
    });
  }

  open(bucket: string, key: BinaryKey): OpenObject {
    this.buckets.require(bucket);
    const descriptor = openIfThere(this.disk.object(bucket, key));
    if (descriptor === undefined) throw noSuchKey(fromBinary(key));
    try {
      const stored = namingDamage(bucket, key, () => readRecord<ObjectRecord>(descriptor));
      const { record } = stored;
      namingDamage(bucket, key, () => requireOwn(record, bucket, key));
      const damage = this.knownDamage.get(record.writeId);
      if (damage) throw damage;
      const unpin = record.parts ? this.pins.pin(record.parts.uploadId) : () => {};
      return {
        ...stored,
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

  noteDamage({ writeId }: ObjectRecord, damage: S3Error): void {
    this.knownDamage.set(writeId, damage);
  }

  /**
   * Returns the object that a write replaces. A damaged record must not prevent a write, because a write repairs the
   * object.
   */
  private replaced(bucket: string, key: BinaryKey): ObjectRecord | typeof damagedVersion | undefined {
    try {
      return this.find(bucket, key);
    } catch (error) {
      if (isDamage(error)) return damagedVersion;
      throw error;
    }
  }

  checkCondition(bucket: string, key: BinaryKey, condition: WriteCondition): void {
    checkWrite(condition, this.replaced(bucket, key), fromBinary(key));
  }

  /**
   * Makes a finished temporary file the object, if the condition holds at that time. The object is durable when it
   * returns.
   * @param announcement announces the event in the same synchronous section
   * @param publishParts called when the object is durable (multipart)
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
    let replaced: ObjectRecord | typeof damagedVersion | undefined;
    try {
      replaced = this.replaced(bucket, key);
      checkWrite(condition, replaced, fromBinary(key));
      announced(announcement, () => this.directories.rename(temporary, file));
    } catch (error) {
      fs.rmSync(temporary, { force: true });
      throw error;
    }
    await this.flush(file, path.dirname(file), this.disk.objects(bucket));
    // Until here a power loss may restore the replaced object and the open upload.
    publishParts();
    this.retireParts(bucket, replaced);
  }

  async remove(
    bucket: string,
    key: BinaryKey,
    announcement: Announcement,
    { version, ...condition }: RemovalCondition = {},
  ): Promise<boolean> {
    const removed = this.replaced(bucket, key);
    checkWrite(condition, removed, fromBinary(key));
    if (!removed || (version !== undefined && version !== writeIdOf(removed))) {
      await this.settled(bucket, key);
      return false;
    }
    const file = this.disk.object(bucket, key);
    announced(announcement, () => fs.rmSync(file, { force: true }));
    const top = this.disk.objects(bucket);
    await this.flush(file, this.directories.removeEmpty(path.dirname(file), top), top);
    this.retireParts(bucket, removed);
    return true;
  }

  async settled(bucket: string, key: BinaryKey): Promise<void> {
    // The request that made the change gets the error.
    await this.flushing.get(this.disk.object(bucket, key))?.catch(() => {});
  }

  private async flush(file: string, directory: string, top: string): Promise<void> {
    const flushed = this.directories.flush(directory, top);
    this.flushing.set(file, flushed);
    try {
      await flushed;
    } finally {
      if (this.flushing.get(file) === flushed) this.flushing.delete(file);
    }
  }

  private retireParts(bucket: string, record: ObjectRecord | typeof damagedVersion | undefined): void {
    if (!record || !("parts" in record) || !record.parts) return;
    const directory = this.disk.upload(bucket, record.parts.uploadId);
    this.pins.whenFree(record.parts.uploadId, () => this.disk.discard(directory));
  }

  newWrite(bucket: string): Pick<ObjectRecord, "bucket" | "modified" | "writeId"> {
    return { bucket, modified: this.clock.now(), writeId: randomUUID() };
  }
}

const writeIdOf = (version: ObjectRecord | typeof damagedVersion): string =>
  "writeId" in version ? version.writeId : "damaged";

/**
 * Checks that a file contains this object.
 * @throws DamagedFileError if it contains another one
 */
function requireOwn(record: ObjectRecord, bucket: string, key: BinaryKey): ObjectRecord {
  if (toBinary(record.key) === key && record.bucket === bucket) return record;
  throw new DamagedFileError(`its file is that of s3://${record.bucket}/${record.key}`);
}
