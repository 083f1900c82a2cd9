import { RingmasterError } from "../../core/errors";

/** The temporary directory's file system is full. What was begun is gone; nothing was registered. */
export class DiskFullError extends RingmasterError {
  constructor(directory: string, cause: unknown) {
    super(
      `the disk that holds ${directory} is full; free some space there, or set TMPDIR to a directory on a larger disk, and try again`,
      { code: "DISK_FULL", httpStatus: 507, retryable: true, details: { directory }, cause },
    );
  }
}

/** Node says it by code, DuckDB in words. */
export function isDiskFull(error: unknown): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return (
    code === "ENOSPC" || code === "EDQUOT" || /No space left on device|Disk quota exceeded/i.test(messageOf(error))
  );
}

/** By its shape: what a native addon throws need not be an instance of this realm's `Error`. */
export function messageOf(error: unknown): string {
  const { message } = (error ?? {}) as { readonly message?: unknown };
  return typeof message === "string" ? message : "";
}
