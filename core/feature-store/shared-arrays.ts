/**
 * Returns numbers in shared memory, which another thread can read. It does not make V8 collect garbage, as large arrays do.
 */
export function sharedNumbers(length: number): Float64Array<SharedArrayBuffer> {
  return new Float64Array(new SharedArrayBuffer(length * Float64Array.BYTES_PER_ELEMENT));
}

/** Returns places in shared memory. */
export function sharedPlaces(length: number): Uint32Array<SharedArrayBuffer> {
  return new Uint32Array(new SharedArrayBuffer(length * Uint32Array.BYTES_PER_ELEMENT));
}
