import { RingmasterError } from "../../core/errors";

/** The file system of the temporary directory is full. The unfinished work was removed, and nothing was registered. */
export class DiskFullError extends RingmasterError {
  constructor(directory: string, cause: unknown) {
    super(
      `the disk that holds ${directory} is full; free some space there, or set TMPDIR to a directory on a larger disk, and try again`,
      { code: "DISK_FULL", httpStatus: 507, retryable: true, details: { directory }, cause },
    );
  }
}

/** Returns whether an error means a full disk. Node reports it by code, and DuckDB in its message. */
export function isDiskFull(error: unknown): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return (
    code === "ENOSPC" || code === "EDQUOT" || /No space left on device|Disk quota exceeded/i.test(messageOf(error))
  );
}

/**
 * Returns the message of an error. A native addon may throw an object that is not an instance of this realm's `Error`,
 * so only its shape is checked.
 */
export function messageOf(error: unknown): string {
  const { message } = (error ?? {}) as { readonly message?: unknown };
  return typeof message === "string" ? message : "";
}
