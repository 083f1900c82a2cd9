import { S3ServiceException } from "@aws-sdk/client-s3";
import { StorageFullError } from "../../core/object-errors";

/** HEAD has no body, so its 404 comes without S3's error code. A missing bucket is another matter: a wrong configuration. */
export function isMissing(error: unknown): boolean {
  return error instanceof S3ServiceException && (error.name === "NoSuchKey" || error.name === "NotFound");
}

/** HEAD's 403 comes without a code as well. Keys that are over or wrong have codes of their own, and with HEAD another status. */
export function isDenied(error: unknown): boolean {
  return (
    statusOf(error) === 403 &&
    ["AccessDenied", "Forbidden", "403", "Unknown", "UnknownError"].includes((error as Error).name)
  );
}

export function isPreconditionFailure(error: unknown): boolean {
  return statusOf(error) === 412;
}

/** Another conditional write to the key is under way; the outcome is open, so ask again. */
export function isConflict(error: unknown): boolean {
  return statusOf(error) === 409 && (error as Error).name === "ConditionalRequestConflict";
}

/** How often the client sent the request, its own retries included. */
export function attemptsOf(error: unknown): number {
  return error instanceof S3ServiceException ? (error.$metadata.attempts ?? 1) : 1;
}

/** Runs a write; S3-compatible stores on real disks answer a full one with 507. */
export async function translated<T>(key: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (statusOf(error) === 507) throw new StorageFullError(key, error);
    throw error;
  }
}

/** Returns the store's description of an object's damage; undefined for other errors. */
export function damageOf(error: unknown): string | undefined {
  if (!(error instanceof S3ServiceException) || error.name !== "InternalError") return undefined;
  const { Damage } = error as { readonly Damage?: unknown };
  return typeof Damage === "string" ? Damage : undefined;
}

export function isServerFailure(error: unknown): boolean {
  return (statusOf(error) ?? 0) >= 500;
}

function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}
