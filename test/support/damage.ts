import fs from "node:fs";
import path from "node:path";
import { relativePath, toBinary } from "../../local/s3/keys";

/** The files that hold the bytes of an object of the embedded S3: its own, or its parts'. */
export function objectFiles(s3Directory: string, bucket: string, key: string): readonly string[] {
  const root = path.join(s3Directory, "buckets", bucket);
  const own = path.join(root, "objects", relativePath(toBinary(key)));
  const uploadId = /"parts":\{"uploadId":"([0-9a-f]+)"/.exec(fs.readFileSync(own).subarray(-65_536).toString())?.[1];
  if (uploadId === undefined) return [own];
  const directory = path.join(root, "uploads", uploadId);
  const parts = fs.readdirSync(directory).filter((name) => name.startsWith("part-"));
  return parts.map((name) => path.join(directory, name));
}

export function flipBit(file: string, at: number): void {
  const descriptor = fs.openSync(file, "r+");
  const byte = Buffer.alloc(1);
  fs.readSync(descriptor, byte, 0, 1, at);
  byte[0] = byte.readUInt8(0) ^ 0x10;
  fs.writeSync(descriptor, byte, 0, 1, at);
  fs.closeSync(descriptor);
}
