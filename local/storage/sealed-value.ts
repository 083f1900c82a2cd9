import { crc32 } from "node:zlib";

/*
 * A sealed value is a marker, the CRC-32 of database, key and value in eight hexadecimal digits, and the value. Values of
 * versions without seals begin otherwise: they are JSON, numbers or empty.
 */
const marker = "\u0002";
const digits = 8;
const headLength = marker.length + digits;

/** Seals and opens the values of one database. A value of another database or another key does not open. */
export class ValueSeal {
  private readonly seed: number;

  constructor(databaseId: string) {
    this.seed = crc32(databaseId);
  }

  seal(key: Buffer | string, value: string): string {
    return this.head(key, value) + value;
  }

  /** Returns the value, or undefined if the seal is broken or missing. */
  open(key: Buffer | string, sealed: string): string | undefined {
    if (!looksSealed(sealed)) return undefined;
    const value = sealed.slice(headLength);
    return Number.parseInt(sealed.slice(marker.length, headLength), 16) === this.checksum(key, value)
      ? value
      : undefined;
  }

  private checksum(key: Buffer | string, value: Buffer | string): number {
    return crc32(value, crc32(key, this.seed));
  }

  private head(key: Buffer | string, value: Buffer | string): string {
    return marker + this.checksum(key, value).toString(16).padStart(digits, "0");
  }

  /** Returns whether sealed bytes are intact. */
  isIntact(key: Buffer, sealed: Buffer): boolean {
    if (sealed.length < headLength) return false;
    return sealed.toString("latin1", 0, headLength) === this.head(key, sealed.subarray(headLength));
  }
}

/** Returns whether a value has the form of a sealed value. */
export function looksSealed(value: Buffer | string): boolean {
  return typeof value === "string" ? value.startsWith(marker) : value[0] === marker.charCodeAt(0);
}

/** Returns the value in stored bytes that are intact, or that were written before seals existed. */
export function unsealed(stored: Buffer): string {
  return stored.toString("utf8", looksSealed(stored) ? headLength : 0);
}
