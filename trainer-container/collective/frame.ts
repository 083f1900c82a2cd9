/** A frame is a header of `headerBytes`, then `bytes` of payload: float32 in little-endian, as in memory. */
export const headerBytes = 40;

export const frameTypes = {
  /** The sender is a rank of this generation and has read the same sealed list. */
  welcome: 1,
  /** The sender has begun operation `operation` on `elements` elements. */
  begin: 2,
  /** Partial sums `[offset, …)` of slot `slot`, for the owner of that segment. */
  partial: 3,
  /** The final sums `[offset, …)`. */
  sum: 4,
  /** Elements `[offset, …)` of state buffer `slot`. */
  state: 5,
  /** The sender leaves at a step boundary. It has sent all frames that it owed. */
  bye: 6,
  /** The sender abandons the generation because it lost rank `slot` (`noRank`: for another reason). */
  abort: 7,
} as const;

export type FrameType = (typeof frameTypes)[keyof typeof frameTypes];

export const noRank = 0xffff_ffff;

export interface FrameHeader {
  readonly type: FrameType;
  /** Number of the collective operation within the generation, from 1. */
  readonly operation: number;
  readonly slot: number;
  /** For `begin`: see `gangSignals`. */
  readonly signals: number;
  /** First element in the vector; for `begin`: number of elements of the vector. */
  readonly offset: number;
  /** For `begin`. */
  readonly finishedSteps: number;
  /** Bytes of the following payload. */
  readonly bytes: number;
}

/** Detects a stream that has lost its framing, or comes from another program. */
const magic = 0x524d_4731;

export function encodeHeader(header: Partial<FrameHeader> & { readonly type: FrameType }): Buffer {
  const out = Buffer.allocUnsafe(headerBytes);
  out.writeUInt32LE(magic, 0);
  out.writeUInt32LE(header.type, 4);
  out.writeUInt32LE(header.operation ?? 0, 8);
  out.writeUInt32LE(header.slot ?? 0, 12);
  out.writeUInt32LE(header.signals ?? 0, 16);
  out.writeUInt32LE(header.bytes ?? 0, 20);
  out.writeDoubleLE(header.offset ?? 0, 24);
  out.writeDoubleLE(header.finishedSteps ?? 0, 32);
  return out;
}

/** @throws if the bytes are no header */
export function decodeHeader(bytes: Buffer, at: number): FrameHeader {
  const type = bytes.readUInt32LE(at + 4);
  if (bytes.readUInt32LE(at) !== magic || type < frameTypes.welcome || type > frameTypes.abort) {
    throw new Error("the stream is not in step: expected a frame header");
  }
  return {
    type: type as FrameType,
    operation: bytes.readUInt32LE(at + 8),
    slot: bytes.readUInt32LE(at + 12),
    signals: bytes.readUInt32LE(at + 16),
    bytes: bytes.readUInt32LE(at + 20),
    offset: bytes.readDoubleLE(at + 24),
    finishedSteps: bytes.readDoubleLE(at + 32),
  };
}

/** Returns the same memory as bytes, for a socket without a copy. */
export function bytesOf(values: Float32Array, start = 0, end = values.length): Buffer {
  return Buffer.from(values.buffer, values.byteOffset + start * 4, (end - start) * 4);
}
