import { randomUUID } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { BoundedMap } from "../../core/bounded-map";
import type { Clock } from "../../core/ports";
import { Buckets } from "./buckets";
import type { WriteCondition } from "./conditions";
import { checkWrite } from "./conditions";
import { DamagedFileError, isDamage, namingDamage } from "./damage";
import { Directories } from "./directories";
import type { Disk } from "./disk";
import { readDocument } from "./documents";
import { noSuchKey, S3Error } from "./errors";
import { type BinaryKey, fromBinary, toBinary } from "./keys";
import { type Announcement, announced } from "./notifications";
import { Pins } from "./pins";
import { findRecord, type ObjectRecord, openIfThere, readRecord, type StoredFile, type Tags } from "./record";
import type { WrittenIndex } from "./written";

/** An object that is open for reading: it stays whole until `release`, whatever happens to its key meanwhile. */
export interface OpenObject extends StoredFile<ObjectRecord> {
  readonly descriptor: number;
  release(): void;
}

const mostKnownDamage = 1000;

/** Stands in for the version of an object whose record is damaged: it exists, and no `If-Match` but `*` matches it. */
const damagedVersion = { etag: "", modified: 0 } as const;

/**
 * Objects on disk.
 *
 * The one idea that keeps it simple: whatever decides and changes (a condition and the rename, a removal and the folders it leaves
 * empty) happens in one synchronous section of this single-threaded process, so no other request is ever between the two. Everything slow
 * (receiving, hashing, flushing) is done before, on a file that nobody sees.
 */
export class Store {
  readonly buckets: Buckets;
  readonly #directories = new Directories();
  readonly #pins = new Pins();
  /** By file: the flush of a change that requests see already. */
  readonly #flushing = new Map<string, Promise<void>>();
  /** By write: damage that a reader found after it had begun to answer. The client's next try is told at once. */
  readonly #knownDamage = new BoundedMap<string, S3Error>(mostKnownDamage);

  constructor(
    readonly disk: Disk,
    readonly written: WrittenIndex,
    readonly clock: Clock,
  ) {
    this.buckets = new Buckets(disk, written, clock);
  }

  // Objects.

  /** @throws S3Error 500 where the object's record is damaged */
  find(bucket: string, key: BinaryKey): ObjectRecord | undefined {
    this.buckets.require(bucket);
    return this.recordOf(bucket, key);
  }

  /** `find` in a bucket that is known to exist. */
  recordOf(bucket: string, key: BinaryKey): ObjectRecord | undefined {
    return namingDamage(bucket, key, () => {
      const record = findRecord<ObjectRecord>(this.disk.object(bucket, key));
      return this.#current(bucket, key, record && requireOwn(record, bucket, key));
    });
  }

  /** Compares what lies in an object's place with what was written. @throws DamagedFileError */
  #current(bucket: string, key: BinaryKey, record: ObjectRecord | undefined): ObjectRecord | undefined {
    const entry = this.written.find(bucket, key);
    if (!entry) return record;
    if (!record && !entry.removing) throw new DamagedFileError("its file is missing");
    if (record && record.writeId !== entry.writeId && (record.generation ?? 0) < entry.generation) {
      throw new DamagedFileError("its file holds an earlier version of the object");
    }
    return record;
  }

  require(bucket: string, key: BinaryKey): ObjectRecord {
    const record = this.find(bucket, key);
    if (!record) throw noSuchKey(fromBinary(key));
    return record;
  }

  open(bucket: string, key: BinaryKey): OpenObject {
    this.buckets.require(bucket);
    const descriptor = openIfThere(this.disk.object(bucket, key));
    if (descriptor === undefined) {
      namingDamage(bucket, key, () => this.#current(bucket, key, undefined));
      throw noSuchKey(fromBinary(key));
    }
    try {
      const found = namingDamage(bucket, key, () => readRecord<ObjectRecord>(descriptor));
      const { record } = found;
      namingDamage(bucket, key, () => this.#current(bucket, key, requireOwn(record, bucket, key)));
      const known = this.#knownDamage.get(record.writeId);
      if (known) throw known;
      const unpin = record.parts ? this.#pins.pin(record.parts.uploadId) : () => {};
      return {
        ...found,
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
    this.#knownDamage.set(writeId, damage);
  }

  /** The object that a write replaces. A damaged record must not prevent a write: it is how the object is repaired. */
  #replaced(bucket: string, key: BinaryKey): ObjectRecord | typeof damagedVersion | undefined {
    try {
      return this.find(bucket, key);
    } catch (error) {
      if (isDamage(error)) return damagedVersion;
      throw error;
    }
  }

  /** Checks a condition ahead of the write; `publish` checks it again. */
  checkCondition(bucket: string, key: BinaryKey, condition: WriteCondition): void {
    checkWrite(condition, this.#replaced(bucket, key), fromBinary(key));
  }

  /**
   * Makes a finished temporary file the object, if the condition holds at that instant. On return it is durable.
   * @param record of the object
   * @param announcement of the event, in the same synchronous section
   * @param publishParts runs when the object is durable (multipart)
   * @throws S3Error 404 NoSuchBucket, 412 PreconditionFailed; the temporary file is then removed
   */
  async publish(
    bucket: string,
    key: BinaryKey,
    { temporary, record }: { readonly temporary: string; readonly record: ObjectRecord },
    condition: WriteCondition,
    announcement: Announcement,
    publishParts: () => void = () => {},
  ): Promise<void> {
    const file = this.disk.object(bucket, key);
    let replaced: ObjectRecord | typeof damagedVersion | undefined;
    try {
      replaced = this.#replaced(bucket, key);
      checkWrite(condition, replaced, fromBinary(key));
      announced(announcement, () => this.#directories.rename(temporary, file));
      removeOldTags(file);
    } catch (error) {
      fs.rmSync(temporary, { force: true });
      throw error;
    }
    await this.#flush(file, path.dirname(file), this.disk.objects(bucket));
    // Not before: until here a power loss may bring the replaced object back, and the open upload.
    publishParts();
    this.#retireParts(bucket, replaced);
    this.written.note(bucket, key, record);
  }

  /** Removes the object; fine where there is none. Returns whether there was one. */
  async remove(
    bucket: string,
    key: BinaryKey,
    announcement: Announcement,
    condition: WriteCondition = {},
  ): Promise<boolean> {
    let removed = this.#replaced(bucket, key);
    for (;;) {
      checkWrite(condition, removed, fromBinary(key));
      if (!removed) {
        await this.settled(bucket, key);
        return false;
      }
      const writeId = writeIdOf(removed);
      await this.written.beginRemoval(bucket, key, writeId);
      removed = this.#replaced(bucket, key);
      if (!removed || writeIdOf(removed) === writeId) break; // else it was written again in the meantime
    }
    const file = this.disk.object(bucket, key);
    if (!removed) {
      await this.settled(bucket, key);
      if (!this.#replaced(bucket, key)) this.written.endRemoval(bucket, key); // another request removed it, or its file was lost
      return false;
    }
    announced(announcement, () => fs.rmSync(file, { force: true }));
    removeOldTags(file);
    const top = this.disk.objects(bucket);
    await this.#flush(file, this.#directories.removeEmpty(path.dirname(file), top), top);
    this.#retireParts(bucket, removed);
    await this.written.putDocument(bucket, tagsOfKey(key), undefined);
    if (!this.#replaced(bucket, key)) this.written.endRemoval(bucket, key);
    return true;
  }

  /** Waits for a change of the object that requests see and a power loss would take back. */
  async settled(bucket: string, key: BinaryKey): Promise<void> {
    await this.#flushing.get(this.disk.object(bucket, key))?.catch(() => {}); // the request that made it gets the error
  }

  async #flush(file: string, directory: string, top: string): Promise<void> {
    const flushed = this.#directories.flush(directory, top);
    this.#flushing.set(file, flushed);
    try {
      await flushed;
    } finally {
      if (this.#flushing.get(file) === flushed) this.#flushing.delete(file);
    }
  }

  #retireParts(bucket: string, record: ObjectRecord | typeof damagedVersion | undefined): void {
    if (!record || !("parts" in record) || !record.parts) return;
    const directory = this.disk.upload(bucket, record.parts.uploadId);
    this.#pins.whenFree(record.parts.uploadId, () => this.disk.discard(directory));
  }

  // Tags.

  /** The tags of an object: those put later, where there are any, else those it was written with. */
  tagsOf(bucket: string, key: BinaryKey, record: ObjectRecord): Tags {
    const later =
      this.written.document<LaterTags>(bucket, tagsOfKey(key)) ??
      // Where earlier versions put them.
      namingDamage(bucket, key, () => readDocument<LaterTags>(this.disk.tags(bucket, key), "writeId"));
    return later?.writeId === record.writeId ? later.tags : record.tags;
  }

  async putTags(bucket: string, key: BinaryKey, tags: Tags): Promise<void> {
    const { writeId } = this.require(bucket, key);
    await this.written.putDocument(bucket, tagsOfKey(key), { writeId, tags } satisfies LaterTags);
    if (this.find(bucket, key)?.writeId === writeId) return;
    throw new S3Error(409, "OperationAborted", "The object was written again while its tags were. Please try again.");
  }

  /** What every new record carries. */
  newWrite(bucket: string, key: BinaryKey): Pick<ObjectRecord, "bucket" | "modified" | "generation" | "writeId"> {
    const replaced = this.#replaced(bucket, key);
    const before = (replaced && "writeId" in replaced && replaced.generation) || 0;
    // By the clock: a key that was removed and written again must not have a generation that it had before.
    const generation = Math.max(Date.now(), before + 1);
    return { bucket, modified: this.clock.now(), generation, writeId: randomUUID() };
  }

  /** Keys of a range that were written, and whose files are missing. */
  async missingKeys(bucket: string, prefix: string, after: string, upTo: string | undefined) {
    const keys = await this.written.keys(bucket, prefix, after, upTo);
    return keys.filter((key) => !fs.existsSync(this.disk.object(bucket, key)));
  }
}

const tagsOfKey = (key: BinaryKey): string => `tags of ${key}`;

const writeIdOf = (version: ObjectRecord | typeof damagedVersion): string =>
  "writeId" in version ? version.writeId : "damaged";

/** @throws DamagedFileError where the file of another object lies in this one's place */
function requireOwn(record: ObjectRecord, bucket: string, key: BinaryKey): ObjectRecord {
  if (toBinary(record.key) === key && (record.bucket ?? bucket) === bucket) return record;
  throw new DamagedFileError(`its file is that of s3://${record.bucket ?? bucket}/${record.key}`);
}

/** Removes the tags that earlier versions kept next to an object. Asks first: `rmSync` of nothing takes 15 µs. */
function removeOldTags(file: string): void {
  if (fs.existsSync(`${file}tags`)) fs.rmSync(`${file}tags`);
}

interface LaterTags {
  readonly writeId: string;
  readonly tags: Tags;
}
