/** Eight tables of 256 entries, which process eight bytes per step ("slicing by 8"). */
const tables = makeTables();

/** Computes the CRC-32C (Castagnoli) of bytes. */
export function crc32c(bytes: Uint8Array): number {
  let crc = ~0;
  let at = 0;
  for (const end = bytes.length - 7; at < end; at += 8) {
    const low = crc ^ (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24));
    crc =
      tables[1792 + (low & 0xff)]! ^
      tables[1536 + ((low >>> 8) & 0xff)]! ^
      tables[1280 + ((low >>> 16) & 0xff)]! ^
      tables[1024 + (low >>> 24)]! ^
      tables[768 + bytes[at + 4]!]! ^
      tables[512 + bytes[at + 5]!]! ^
      tables[256 + bytes[at + 6]!]! ^
      tables[bytes[at + 7]!]!;
  }
  for (; at < bytes.length; at++) crc = tables[(crc ^ bytes[at]!) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

/**
 * Returns a CRC as LevelDB stores it: rotated and shifted, so that the CRC of data with embedded CRCs is no special
 * case.
 */
export function masked(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

function makeTables(): Int32Array {
  const result = new Int32Array(8 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
    result[byte] = crc;
  }
  for (let i = 256; i < result.length; i++) {
    const before = result[i - 256]!;
    result[i] = result[before & 0xff]! ^ (before >>> 8);
  }
  return result;
}
