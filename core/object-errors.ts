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

/** An object that is written once is there already, and says something else than what was to be stored. */
export class ObjectDiffersError extends RingmasterError {
  constructor(
    readonly key: string,
    expected: string,
    actual: string,
  ) {
    super(
      `Object ${key} is written once, but it is there already with other content: its digest is ${actual}, that of the content to store is ${expected}. ` +
        "Nothing was stored. Find out who wrote it; remove it if it is wrong, then try again.",
      { code: "OBJECT_DIFFERS", httpStatus: 409, details: { key, expected, actual } },
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
