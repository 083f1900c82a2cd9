import { crc32 } from "node:zlib";

const digits = 8;

/**
 * Adds a checksum to the values of a store, and verifies it: the CRC-32 of store, key and value in hexadecimal digits
 * before the value. A value of another store or another key does not match.
 */
export class ValueChecksum {
  private readonly seed: number;

  constructor(store: string) {
    this.seed = crc32(store);
  }

  add(key: Buffer | string, value: string): string {
    return this.of(key, value) + value;
  }

  /** Returns the value without its checksum, or undefined if they do not match. */
  verify(key: Buffer | string, stored: string): string | undefined {
    const value = stored.slice(digits);
    return stored.slice(0, digits) === this.of(key, value) ? value : undefined;
  }

  private of(key: Buffer | string, value: string): string {
    return crc32(value, crc32(key, this.seed)).toString(16).padStart(digits, "0");
  }
}
