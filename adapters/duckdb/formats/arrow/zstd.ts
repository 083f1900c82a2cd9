import { decompress } from "fzstd";

/**
 * Decodes the Zstandard frame of an Arrow buffer. Arrow puts the decoded size, in eight bytes, right before the frame.
 * Nothing is written beyond that size, whatever the frame says.
 *
 * Source: RFC 8878, section 3.1.1. Checksums are not compared.
 *
 * @throws Error if the frame is damaged or states another size
 */
export function decodeZstdFrame(frame: Uint8Array): Uint8Array {
  const { buffer, byteOffset, length } = frame;
  const size = Number(new DataView(buffer, byteOffset - 8, 8).getBigInt64(0, true));
  const view = new DataView(buffer, byteOffset, length);
  if (length < 9 || view.getUint32(0, true) !== 0xfd2fb528)
    throw new Error("a ZSTD frame must begin with its magic number");
  const stated = statedSize(view);
  if (stated !== undefined && stated !== size) throw new Error(`a ZSTD frame has ${stated} bytes instead of ${size}`);
  try {
    return decompress(frame, new Uint8Array(size));
  } catch (cause) {
    throw new Error(`a ZSTD frame is damaged: ${(cause as Error).message}`, { cause });
  }
}

/** Returns the size of the content, which is optional unless the frame is one segment. */
function statedSize(view: DataView): number | undefined {
  const flags = view.getUint8(4);
  const isOneSegment = (flags & 0x20) !== 0;
  if ((flags & 0x03) !== 0) throw new Error("a ZSTD frame needs a dictionary");
  // Magic number and flags, then the window's size if the frame has several segments.
  const at = isOneSegment ? 5 : 6;
  const form = flags >>> 6;
  if (form === 0) return isOneSegment ? view.getUint8(at) : undefined;
  if (form === 1) return view.getUint16(at, true) + 256;
  return form === 2 ? view.getUint32(at, true) : Number(view.getBigUint64(at, true));
}
