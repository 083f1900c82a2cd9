import { decodeHeader, type FrameHeader, headerBytes } from "./frame";

/** Where frames go. */
export interface FrameSink {
  /** A whole header is there. Answer where its payload belongs (exactly `header.bytes` long), or `hold` until `resume()` is called. */
  place(header: FrameHeader): Buffer | "hold";
  /** The payload lies where `place` said. */
  complete(header: FrameHeader): void;
}

/** Headers and small payloads are read together into this much memory; larger payloads straight into their place. */
const scratchBytes = 64 * 1024;
/** A remaining payload from this size on is read without the detour. */
const directBytes = 8 * 1024;
/** After a large payload another one is likely: take little more than its header, for what lands in scratch is copied. */
const peekBytes = 1024;

/**
 * Cuts a byte stream into frames. Fits `net.connect`'s `onread`: `nextBuffer` says where the kernel shall write next, `received` takes
 * what it wrote. A large payload is therefore never copied.
 */
export class FrameReader {
  private readonly scratch = Buffer.allocUnsafe(scratchBytes);
  /** Bytes of `scratch` not looked at yet. */
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
   * @param buffer the one that `nextBuffer` gave.
   * @returns false where the stream is to be paused: a frame is held.
   * @throws where the stream is not in step.
   */
  received(length: number, buffer: Uint8Array): boolean {
    if (buffer.buffer === this.scratch.buffer && this.withinScratch(buffer)) {
      this.end += length;
    } else {
      this.filled += length;
    }
    return this.drain();
  }

  /** Looks again at what is held. Answers as `received`. */
  resume(): boolean {
    return this.drain();
  }

  private withinScratch(buffer: Uint8Array): boolean {
    const offset = buffer.byteOffset - this.scratch.byteOffset;
    return offset >= 0 && offset < scratchBytes;
  }

  private drain(): boolean {
    // `complete` may end in `resume()` being called on this very reader; the loop below goes on by itself.
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
