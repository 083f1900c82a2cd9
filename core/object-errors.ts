import { RingmasterError } from "./errors";

/** Thrown when there is no object under the key. */
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

/** Thrown when an object's content does not match its name or its manifest. */
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

/** Thrown when an object that is written once already exists with other content. */
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

/** Thrown when the store has no room left. Nothing of the object was stored. */
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
