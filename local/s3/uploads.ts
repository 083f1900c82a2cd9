import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import type { ChecksumAlgorithm, ChecksumType } from "./checksums";
import { DamagedFileError, damagedObject, isDamage, namingDamage } from "./damage";
import { flushDirectory } from "./directories";
import { readDocument, writeDocument } from "./documents";
import { noSuchUpload, S3Error } from "./errors";
import type { Description } from "./headers";
import { type BinaryKey, toBinary } from "./keys";
import { findRecord, type ObjectRecord, type PartRecord } from "./record";
import type { Store } from "./store";

export interface Upload {
  readonly uploadId: string;
  readonly key: string;
  readonly initiated: number;
  readonly description: Description;
  readonly checksum?: { readonly algorithm: ChecksumAlgorithm; readonly type: ChecksumType };
}

export interface NumberedPart extends PartRecord {
  readonly number: number;
}

const openName = "upload.json";
const completedName = "completed.json";

/**
 * Multipart uploads. Completing an upload copies no bytes: the object's record refers to the upload's directory. The
 * parts stay there until the object is replaced or deleted.
 */
export class Uploads {
  private readonly store: Store;
  /** The uploads whose completion is being written. Their parts must not change. */
  private readonly uploadsBeingCompleted = new Set<string>();

  constructor(store: Store) {
    this.store = store;
  }

  async create(bucket: string, upload: Omit<Upload, "uploadId" | "initiated">): Promise<Upload> {
    this.store.buckets.require(bucket);
    const whole: Upload = { ...upload, uploadId: randomBytes(24).toString("hex"), initiated: this.store.clock.now() };
    const { disk } = this.store;
    const temporary = disk.temporary();
    fs.mkdirSync(temporary);
    await writeDocument(path.join(temporary, openName), whole);
    await flushDirectory(temporary);
    this.store.buckets.require(bucket);
    fs.renameSync(temporary, disk.upload(bucket, whole.uploadId));
    await flushDirectory(disk.uploads(bucket));
    return whole;
  }

  /**
   * Returns an open upload.
   * @throws S3Error 404 NoSuchUpload
   */
  requireOpen(bucket: string, uploadId: string, key: BinaryKey): Upload {
    const upload = this.read(bucket, uploadId, openName);
    if (!upload || toBinary(upload.key) !== key) throw noSuchUpload(uploadId);
    return upload;
  }

  isCompleted(bucket: string, uploadId: string, key: BinaryKey): boolean {
    const upload = this.read(bucket, uploadId, completedName);
    return upload !== undefined && toBinary(upload.key) === key;
  }

  private read(bucket: string, uploadId: string, name: string): Upload | undefined {
    this.store.buckets.require(bucket);
    if (!/^[0-9a-f]{48}$/.test(uploadId)) throw noSuchUpload(uploadId);
    const file = path.join(this.store.disk.upload(bucket, uploadId), name);
    const upload = namingDamage(bucket, `uploads/${uploadId}`, () => readDocument<Upload>(file, "uploadId"));
    if (upload === undefined || upload.uploadId === uploadId) return upload;
    throw damagedObject(bucket, upload.key, new DamagedFileError(`${file} is of upload ${upload.uploadId}`));
  }

  listOpen(bucket: string): readonly Upload[] {
    this.store.buckets.require(bucket);
    return fs
      .readdirSync(this.store.disk.uploads(bucket))
      .map((uploadId) => this.read(bucket, uploadId, openName))
      .filter((upload) => upload !== undefined);
  }

  /**
   * Makes a finished temporary file the part with that number, and replaces an earlier one. It is durable when it
   * returns.
   */
  async publishPart(
    bucket: string,
    uploadId: string,
    key: BinaryKey,
    number: number,
    temporary: string,
  ): Promise<void> {
    try {
      this.requireOpen(bucket, uploadId, key);
      this.requireStill(uploadId);
      fs.renameSync(temporary, this.store.disk.part(bucket, uploadId, number));
    } catch (error) {
      fs.rmSync(temporary, { force: true });
      throw error;
    }
    await flushDirectory(this.store.disk.upload(bucket, uploadId));
  }

  findPart(bucket: string, uploadId: string, number: number): NumberedPart | undefined {
    const file = this.store.disk.part(bucket, uploadId, number);
    const record = namingDamage(bucket, `uploads/${uploadId}/part-${number}`, () => findRecord<PartRecord>(file));
    return record && { ...record, number };
  }

  listPartNumbers(bucket: string, uploadId: string): readonly number[] {
    return fs
      .readdirSync(this.store.disk.upload(bucket, uploadId))
      .flatMap((name) => /^part-(\d+)$/.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((a, b) => a - b);
  }

  async abort(bucket: string, uploadId: string, key: BinaryKey): Promise<void> {
    this.requireOpen(bucket, uploadId, key);
    this.requireStill(uploadId);
    this.store.disk.discard(this.store.disk.upload(bucket, uploadId));
    await flushDirectory(this.store.disk.uploads(bucket));
  }

  async completing<T>(uploadId: string, complete: () => Promise<T>): Promise<T> {
    this.requireStill(uploadId);
    this.uploadsBeingCompleted.add(uploadId);
    try {
      return await complete();
    } finally {
      this.uploadsBeingCompleted.delete(uploadId);
    }
  }

  private requireStill(uploadId: string): void {
    if (this.uploadsBeingCompleted.has(uploadId)) {
      throw new S3Error(409, "OperationAborted", "The upload is being completed by another request. Please try again.");
    }
  }

  /** Marks the upload as completed and removes the parts that its object does not use. The object must be durable. */
  markCompleted(bucket: string, record: ObjectRecord): void {
    const { uploadId, list } = record.parts!;
    const directory = this.store.disk.upload(bucket, uploadId);
    if (!fs.existsSync(directory)) return; // The object was replaced or removed in the meantime.
    fs.renameSync(path.join(directory, openName), path.join(directory, completedName));
    const used = new Set(list.map((part) => part.number));
    for (const number of this.listPartNumbers(bucket, uploadId)) {
      if (!used.has(number)) fs.rmSync(this.store.disk.part(bucket, uploadId, number));
    }
  }

  recover(): void {
    for (const { name: bucket } of this.store.buckets.list()) {
      for (const uploadId of fs.readdirSync(this.store.disk.uploads(bucket))) {
        try {
          this.recoverUpload(bucket, uploadId);
        } catch (error) {
          if (!isDamage(error)) throw error; // Parts are kept as long as an object may refer to them.
        }
      }
    }
  }

  private recoverUpload(bucket: string, uploadId: string): void {
    const open = this.read(bucket, uploadId, openName);
    const upload = open ?? this.read(bucket, uploadId, completedName);
    if (!upload) return;
    const record = this.store.find(bucket, toBinary(upload.key));
    const published = record?.parts?.uploadId === uploadId;
    if (open && published) this.markCompleted(bucket, record);
    else if (!open && !published) this.store.disk.discard(this.store.disk.upload(bucket, uploadId));
  }
}
