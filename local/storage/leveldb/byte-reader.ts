/** The bytes do not have the expected format. */
export class FormatError extends Error {}

/** Reads LevelDB's primitive types from a buffer. @throws FormatError past the end */
export class ByteReader {
  private offset: number;

  constructor(
    readonly bytes: Buffer,
    at = 0,
    readonly end = bytes.length,
  ) {
    this.offset = at;
  }

  get at(): number {
    return this.offset;
  }

  get done(): boolean {
    return this.offset >= this.end;
  }

  byte(): number {
    return this.take(1)[0]!;
  }

  take(length: number): Buffer {
    const from = this.offset;
    if (length > this.end - from) throw new FormatError("it ends in the middle of a value");
    this.offset += length;
    return this.bytes.subarray(from, this.offset);
  }

  fixed32(): number {
    return this.take(4).readUInt32LE(0);
  }

  fixed64(): number {
    return this.safe(this.take(8).readBigUInt64LE(0));
  }

  /** Reads a little-endian base-128 number of up to 53 bits, in its shortest form: LevelDB writes no other. */
  varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.byte();
      value += (byte & 127) * scale;
      if (value > Number.MAX_SAFE_INTEGER) throw new FormatError("a number is too large");
      if (byte === 0 && scale > 1) throw new FormatError("a number is longer than necessary");
      if (byte < 128) return value;
    }
  }

  /** Reads bytes that follow their length. */
  slice(): Buffer {
    return this.take(this.varint());
  }

  private safe(value: bigint): number {
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new FormatError("a number is too large");
    return Number(value);
  }
}
