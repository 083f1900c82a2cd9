import { ByteReader, FormatError } from "./byte-reader";

/** The maximum decompressed size. A block has 4 KiB, or the size of one large entry. */
const maxBytes = 2 ** 30;

/**
 * Decompresses Snappy's raw format (google/snappy, format_description.txt), in which LevelDB compresses blocks.
 *
 * @throws FormatError
 */
export function decompressSnappy(compressed: Buffer): Buffer {
  const reader = new ByteReader(compressed);
  const length = reader.varint();
  if (length > maxBytes) throw new FormatError("its uncompressed length is not plausible");
  const out = Buffer.allocUnsafe(length);
  let at = 0;
  const reserve = (bytes: number): void => {
    if (bytes > length - at) throw new FormatError("it is longer than it should be");
  };
  const copy = (offset: number, bytes: number): void => {
    reserve(bytes);
    if (offset === 0 || offset > at) throw new FormatError("it refers to bytes that are not there");
    // The ranges may overlap. The copied bytes are then repeated.
    for (let i = 0; i < bytes; i++) out[at + i] = out[at + i - offset]!;
    at += bytes;
  };
  while (!reader.done) {
    const tag = reader.byte();
    const upper = tag >>> 2;
    if ((tag & 3) === 0) {
      const bytes = 1 + (upper < 60 ? upper : reader.take(upper - 59).readUIntLE(0, upper - 59));
      reserve(bytes);
      reader.take(bytes).copy(out, at);
      at += bytes;
    } else if ((tag & 3) === 1) copy(((tag >>> 5) << 8) | reader.byte(), 4 + (upper & 7));
    else if ((tag & 3) === 2) copy(reader.take(2).readUInt16LE(0), 1 + upper);
    else copy(reader.fixed32(), 1 + upper);
  }
  if (at !== length) throw new FormatError("it is shorter than it should be");
  return out;
}
