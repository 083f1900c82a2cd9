import { setTimeout as sleep } from "node:timers/promises";
import { S3ServiceException } from "@aws-sdk/client-s3";
import { createPause } from "../../core/backoff";
import { CorruptObjectError, StorageFullError } from "../../core/object-documents";

const attempts = 6;
const pause = createPause({ firstMs: 50, maxMs: 2_000 }, sleep, Math.random);

export async function withRetries<T>(retryable: (error: unknown) => boolean, action: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await action();
    } catch (error) {
      if (attempt === attempts || !retryable(error)) throw error;
      await pause(attempt);
    }
  }
}

/** HEAD has no body, so its 404 has no code. A missing bucket is not included: it is a configuration error. */
export function isMissing(error: unknown): boolean {
  return error instanceof S3ServiceException && (error.name === "NoSuchKey" || error.name === "NotFound");
}

/** HEAD's 403 has no code. Expired or wrong keys have their own codes, and another status with HEAD. */
export function isDenied(error: unknown): boolean {
  return (
    statusOf(error) === 403 &&
    ["AccessDenied", "Forbidden", "403", "Unknown", "UnknownError"].includes((error as Error).name)
  );
}

export function isPreconditionFailure(error: unknown): boolean {
  return statusOf(error) === 412;
}

/** Another conditional write to the key is in progress. The outcome is open, so the request can be repeated. */
export function isConflict(error: unknown): boolean {
  return statusOf(error) === 409 && (error as Error).name === "ConditionalRequestConflict";
}

export function attemptsOf(error: unknown): number {
  return error instanceof S3ServiceException ? (error.$metadata.attempts ?? 1) : 1;
}

/** Runs a write and translates the error for a full disk. S3-compatible stores with real disks answer 507. */
export async function translated<T>(key: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (statusOf(error) === 507) throw new StorageFullError(key, error);
    throw error;
  }
}

export function damageOf(error: unknown): string | undefined {
  if (!(error instanceof S3ServiceException) || error.name !== "InternalError") return undefined;
  const { Damage } = error as { readonly Damage?: unknown };
  return typeof Damage === "string" ? Damage : undefined;
}

/** Returns the error of a read. It names the object's damage, if that is why the read failed. */
export function readError(key: string, error: unknown): unknown {
  const damage = damageOf(error);
  return damage === undefined ? error : new CorruptObjectError(key, "the bytes that were stored", damage, error);
}

/** Returns whether the connection broke within a body. The store closes it instead of sending damaged bytes. */
export function isCutBody(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return code === "ECONNRESET" || code === "EPIPE" || error.message === "aborted";
}

export function isPastEnd(error: unknown): boolean {
  return error instanceof Error && error.name === "InvalidRange";
}

export function isServerFailure(error: unknown): boolean {
  return (statusOf(error) ?? 0) >= 500;
}

function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}
