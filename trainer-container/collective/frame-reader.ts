import { decodeHeader, type FrameHeader, headerBytes } from "./frame";

/** Consumer of frames. */
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

/**
 * Splits a byte stream into frames. It fits `net.connect`'s `onread`: `nextBuffer` returns the kernel's next buffer, and
 * `received` takes its data. So a large payload is never copied.
 */
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
   * @param buffer the buffer that `nextBuffer` returned
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
