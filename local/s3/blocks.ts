import { crc32 } from "node:zlib";
import { DamagedFileError } from "./damage";

/** The number of bytes under one checksum. A ranged read must read whole blocks to verify the bytes that it sends. */
export const blockBytes = 64 * 1024;

const entryBytes = 4;

export class BlockChecksums {
  private readonly sums: number[] = [];
  private current = 0;
  private filled = 0;

  update(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const piece = bytes.subarray(at, at + blockBytes - this.filled);
      this.current = crc32(piece, this.current);
      this.filled += piece.length;
      at += piece.length;
      if (this.filled === blockBytes) this.next();
    }
  }

  /** Returns the checksums in order, each as a big-endian uint32. */
  table(): Buffer {
    if (this.filled > 0) this.next();
    const table = Buffer.alloc(this.sums.length * entryBytes);
    for (const [index, sum] of this.sums.entries()) table.writeUInt32BE(sum, index * entryBytes);
    return table;
  }

  private next(): void {
    this.sums.push(this.current);
    this.current = 0;
    this.filled = 0;
  }
}

export const tableBytes = (size: number): number => Math.ceil(size / blockBytes) * entryBytes;

/**
 * Verifies whole blocks against the table.
 * @param start the position of the bytes in the body, a multiple of `blockBytes`
 * @throws DamagedFileError
 */
export function verifyBlocks(table: Buffer, bytes: Uint8Array, start: number): void {
  for (let at = 0; at < bytes.length; at += blockBytes) {
    const index = (start + at) / blockBytes;
    if (crc32(bytes.subarray(at, at + blockBytes)) === table.readUInt32BE(index * entryBytes)) continue;
    const end = Math.min(at + blockBytes, bytes.length);
    throw new DamagedFileError(
      `bytes ${start + at} to ${start + end - 1} do not match the checksum that was stored with them`,
    );
  }
}
