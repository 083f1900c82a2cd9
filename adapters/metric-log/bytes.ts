/** Largest integer for which differences, and twice the differences, are exact. */
const widest = 2 ** 51;

export class ByteWriter {
  private buffer: Buffer;
  private at = 0;

  constructor(expectedBytes = 1024) {
    this.buffer = Buffer.allocUnsafe(expectedBytes);
  }

  get length(): number {
    return this.at;
  }

  /** Writes a whole number from 0 to 2^53 with seven bits a byte, the lowest first. */
  count(value: number): void {
    this.reserve(8);
    let rest = value;
    while (rest >= 0x8000_0000) {
      this.buffer[this.at++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    while (rest >= 128) {
      this.buffer[this.at++] = (rest & 127) | 128;
      rest >>>= 7;
    }
    this.buffer[this.at++] = rest;
  }

  float(value: number): void {
    this.reserve(8);
    this.at = this.buffer.writeDoubleLE(value, this.at);
  }

  text(value: string): void {
    const bytes = Buffer.byteLength(value);
    this.count(bytes);
    this.reserve(bytes);
    this.at += this.buffer.write(value, this.at, bytes, "utf8");
  }

  floats(values: readonly number[]): void {
    this.reserve(8 * values.length);
    for (let i = 0; i < values.length; i += 1) this.at = this.buffer.writeDoubleLE(values[i]!, this.at);
  }

  /**
   * Writes a column of numbers that are mostly whole and close to their neighbours. Equal numbers are stored once,
   * whole ones as differences (zigzag, as in Protocol Buffers), others unchanged. The reader must know the column's
   * length.
   */
  column(values: readonly number[]): void {
    if (values.length === 0) return;
    const kind = kindOf(values);
    this.count(kind);
    if (kind === columnKinds.floats) this.floats(values);
    else if (kind === columnKinds.constant) this.signed(values[0]!);
    else {
      let before = 0;
      for (let i = 0; i < values.length; i += 1) {
        this.signed(values[i]! - before);
        before = values[i]!;
      }
    }
  }

  bytes(): Buffer {
    return this.buffer.subarray(0, this.at);
  }

  private signed(value: number): void {
    this.count(value < 0 ? -value * 2 - 1 : value * 2);
  }

  private reserve(bytes: number): void {
    if (this.at + bytes <= this.buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(2 * this.buffer.length, this.at + bytes));
    this.buffer.copy(grown, 0, 0, this.at);
    this.buffer = grown;
  }
}

const columnKinds = { constant: 0, differences: 1, floats: 2 } as const;

function kindOf(values: readonly number[]): number {
  const first = values[0]!;
  let same = true;
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i]!;
    if (!Number.isInteger(value) || value > widest || value < -widest || Object.is(value, -0))
      return columnKinds.floats;
    if (value !== first) same = false;
  }
  return same ? columnKinds.constant : columnKinds.differences;
}

/** @throws RangeError if the bytes end too early */
export class ByteReader {
  private at = 0;
  private readonly buffer: Buffer;

  constructor(bytes: Uint8Array) {
    this.buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get done(): boolean {
    return this.at >= this.buffer.length;
  }

  count(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.buffer[this.at++];
      if (byte === undefined) throw new RangeError("packed metrics end too early");
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
  }

  float(): number {
    const value = this.buffer.readDoubleLE(this.at);
    this.at += 8;
    return value;
  }

  text(): string {
    const bytes = this.count();
    this.at += bytes;
    return this.buffer.toString("utf8", this.at - bytes, this.at);
  }

  floats(length: number): number[] {
    const values = new Array<number>(length);
    for (let i = 0; i < length; i += 1) values[i] = this.buffer.readDoubleLE(this.at + 8 * i);
    this.at += 8 * length;
    return values;
  }

  /** Skips `length` floats, and returns a function that reads any of them. */
  someFloats(length: number): (i: number) => number {
    const first = this.at;
    this.at += 8 * length;
    return (i) => this.buffer.readDoubleLE(first + 8 * i);
  }

  column(length: number): number[] {
    if (length === 0) return [];
    const kind = this.count();
    if (kind === columnKinds.floats) return this.floats(length);
    if (kind === columnKinds.constant) return new Array<number>(length).fill(this.signed());
    const values = new Array<number>(length);
    let before = 0;
    for (let i = 0; i < length; i += 1) {
      before += this.signed();
      values[i] = before;
    }
    return values;
  }

  private signed(): number {
    const value = this.count();
    return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
  }
}
