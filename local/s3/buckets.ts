import fs from "node:fs";
import path from "node:path";
import type { Time } from "../clock";
import { DamagedFileError, damagedObject, namingDamage } from "./damage";
import { flushDirectory } from "./directories";
import type { Disk } from "./disk";
import { readDocument, writeDocument } from "./documents";
import { noSuchBucket, S3Error } from "./errors";

export interface Bucket {
  readonly name: string;
  readonly created: number;
}

export class Buckets {
  constructor(
    private readonly disk: Disk,
    private readonly clock: Time,
  ) {}

  async create(name: string): Promise<void> {
    const temporary = this.disk.temporary();
    fs.mkdirSync(path.join(temporary, "objects"), { recursive: true });
    fs.mkdirSync(path.join(temporary, "uploads"));
    await writeDocument(path.join(temporary, "bucket.json"), { created: this.clock.now() });
    await flushDirectory(temporary);
    if (this.has(name)) {
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

  has(name: string): boolean {
    const directory = this.disk.bucket(name);
    if (fs.existsSync(path.join(directory, "bucket.json"))) return true;
    if (!fs.existsSync(directory)) return false;
    throw damagedObject(name, "", new DamagedFileError(`${path.join(directory, "bucket.json")} is missing`));
  }

  /**
   * Checks that a bucket exists.
   * @throws S3Error 404 NoSuchBucket
   */
  require(name: string): void {
    if (!this.has(name)) throw noSuchBucket(name);
  }

  list(): readonly Bucket[] {
    return fs
      .readdirSync(this.disk.buckets())
      .sort()
      .map((name) => {
        const file = path.join(this.disk.bucket(name), "bucket.json");
        const document = namingDamage(name, "", () => readDocument<{ readonly created: number }>(file, "created"));
        if (!document) throw damagedObject(name, "", new DamagedFileError(`${file} is missing`));
        return { name, created: document.created };
      });
  }
}
