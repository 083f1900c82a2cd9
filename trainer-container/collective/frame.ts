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
function decodeHeader(bytes: Buffer, at: number): FrameHeader {
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

export interface FrameSink {
  /** Takes a header. @returns the memory of its payload (exactly `header.bytes`), or `hold` until `resume()` is called */
  place(header: FrameHeader): Buffer | "hold";
  /** Handles a frame whose payload is in the memory that `place` returned. */
  complete(header: FrameHeader): void;
}

/** Size of the buffer for headers and small payloads. Larger payloads are read directly into their memory. */
const scratchBytes = 64 * 1024;
/** A remaining payload of this size or more is read directly. */
const directBytes = 8 * 1024;
/** After a large payload another one is likely, so little more than its header is read: scratch data must be copied. */
const peekBytes = 1024;

/** Splits a byte stream into frames by `net.connect`'s `onread`, so that a large payload is never copied. */
export class FrameReader {
  private readonly scratch = Buffer.allocUnsafe(scratchBytes);
  /** Start of the unprocessed bytes of `scratch`. */
  private start = 0;
  private end = 0;
  private header: FrameHeader | undefined;
  private target: Buffer | undefined;
  private filled = 0;
  private draining = false;
  private lastWasLarge = false;

  constructor(private readonly sink: FrameSink) {}

  nextBuffer(): Buffer {
    if (this.start === this.end) {
      if (this.target && this.target.length - this.filled >= directBytes) return this.target.subarray(this.filled);
      this.start = 0;
      this.end = 0;
    } else if (this.start > 0) {
      this.scratch.copyWithin(0, this.start, this.end);
      this.end -= this.start;
      this.start = 0;
    }
    return this.scratch.subarray(
      this.end,
      this.lastWasLarge ? Math.max(peekBytes, this.end + headerBytes) : scratchBytes,
    );
  }

  /**
   * @returns false if the stream must be paused, because a frame is held
   * @throws if the stream has lost its framing
   */
  received(length: number, buffer: Uint8Array): boolean {
    if (buffer.buffer === this.scratch.buffer && this.withinScratch(buffer)) {
      this.end += length;
    } else {
      this.filled += length;
    }
    return this.drain();
  }

  /** Processes the held frame again. @returns as `received` */
  resume(): boolean {
    return this.drain();
  }

  private withinScratch(buffer: Uint8Array): boolean {
    const offset = buffer.byteOffset - this.scratch.byteOffset;
    return offset >= 0 && offset < scratchBytes;
  }

  private drain(): boolean {
    // `complete` may call `resume()` on this reader. The loop below continues by itself.
    if (this.draining) return true;
    this.draining = true;
    try {
      for (;;) {
        if (!this.target) {
          if (!this.header) {
            if (this.end - this.start < headerBytes) return true;
            this.header = decodeHeader(this.scratch, this.start);
            this.start += headerBytes;
          }
          const target = this.sink.place(this.header);
          if (target === "hold") return false;
          if (target.length !== this.header.bytes) {
            throw new Error(`a frame of ${this.header.bytes} bytes has a place of ${target.length}`);
          }
          this.target = target;
          this.filled = 0;
        }
        const length = Math.min(this.end - this.start, this.target.length - this.filled);
        if (length > 0) {
          this.scratch.copy(this.target, this.filled, this.start, this.start + length);
          this.start += length;
          this.filled += length;
        }
        if (this.filled < this.target.length) return true;
        const header = this.header!;
        this.lastWasLarge = header.bytes >= directBytes;
        this.header = undefined;
        this.target = undefined;
        this.sink.complete(header);
      }
    } finally {
      this.draining = false;
    }
  }
}
