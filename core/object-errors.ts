import { RingmasterError } from "./errors";

/** No object under that key. */
export class ObjectNotFoundError extends RingmasterError {
  constructor(
    readonly key: string,
    cause?: unknown,
  ) {
    super(`There is no object ${key}. Check the id that the key was made from, or that its writer has finished.`, {
      code: "OBJECT_NOT_FOUND",
      httpStatus: 404,
      details: { key },
      cause,
    });
  }
}

/** What was read is not what its name or its manifest promises. */
export class CorruptObjectError extends RingmasterError {
  constructor(
    readonly key: string,
    expected: string,
    actual: string,
    cause?: unknown,
  ) {
    super(
      `Object ${key} is corrupt: expected ${expected}, but it is ${actual}. ` +
        "Store its content again: that replaces it. A checkpoint falls back to the one before it.",
      { code: "CORRUPT_OBJECT", httpStatus: 500, details: { key, expected, actual }, cause },
    );
  }
}

/** The store has no room left. Nothing of the object was kept. */
export class StorageFullError extends RingmasterError {
  constructor(key: string, cause?: unknown) {
    super(`No room to store object ${key}: the store is full. Free some space, then try again; nothing was lost.`, {
      code: "STORAGE_FULL",
      httpStatus: 507,
      retryable: true,
      details: { key },
      cause,
    });
  }
}
