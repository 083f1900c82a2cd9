import { S3Error } from "./errors";
import { fromBinary } from "./keys";

export class DamagedFileError extends Error {
  constructor(detail: string) {
    super(detail);
    this.name = "DamagedFileError";
  }
}

export function damagedObject(bucket: string, binaryKey: string, cause: DamagedFileError): S3Error {
  const key = fromBinary(binaryKey);
  return new S3Error(
    500,
    "InternalError",
    `The stored object s3://${bucket}/${key} is damaged: ${cause.message}. Put it again, or restore it from a backup.`,
    { extra: { Key: key, Damage: cause.message }, cause },
  );
}

export function isDamage(error: unknown): error is S3Error {
  return error instanceof S3Error && error.cause instanceof DamagedFileError;
}

export function namingDamage<T>(bucket: string, key: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof DamagedFileError ? damagedObject(bucket, key, error) : error;
  }
}
