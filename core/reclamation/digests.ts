const probes = 7;
/** With seven probes, about one digest in a thousand that is not in the set seems to be in it. */
const bitsPerDigest = 16;
const minBytes = 64 * 1024;

/**
 * A set of SHA-256 digests in fixed memory: a Bloom filter. It contains every digest that was added. It seems to contain
 * some others: their objects stay, which costs storage and never data. A digest is random, so its own bytes choose the
 * bits. Another `salt` chooses others, so that the same object does not stay forever.
 */
export class DigestSet {
  private constructor(
    readonly bytes: Uint8Array,
    readonly salt: number,
  ) {}

  static forCount(count: number, salt: number): DigestSet {
    const bytes = Math.max(minBytes, 2 ** Math.ceil(Math.log2((count * bitsPerDigest) / 8 + 1)));
    return new DigestSet(new Uint8Array(bytes), salt);
  }

  /** Reads what `bytes` held. */
  static of(bytes: Uint8Array, salt: number): DigestSet {
    return new DigestSet(bytes, salt);
  }

  /** @param digest 64 hexadecimal digits */
  add(digest: string): void {
    for (const bit of this.bitsOf(digest)) this.bytes[bit >>> 3]! |= 1 << (bit & 7);
  }

  has(digest: string): boolean {
    return this.bitsOf(digest).every((bit) => (this.bytes[bit >>> 3]! & (1 << (bit & 7))) !== 0);
  }

  private bitsOf(digest: string): readonly number[] {
    const mask = this.bytes.length * 8 - 1;
    return Array.from({ length: probes }, (_, probe) => {
      const at = ((this.salt + probe) % 8) * 8;
      const word = Number.parseInt(digest.slice(at, at + 8), 16);
      return ((Math.imul(word ^ this.salt, 0x9e3779b1) >>> 0) ^ (word >>> 13)) & mask;
    });
  }
}

const digits = 64;

const isDigit = new Uint8Array(256);
for (const character of "0123456789abcdef") isDigit[character.charCodeAt(0)] = 1;

/**
 * Finds every SHA-256 in a text: each sequence of exactly 64 lower-case hexadecimal digits. It needs no knowledge of the
 * document, so a new kind of reference is found without a change here.
 */
export async function* digestsIn(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const text = Buffer.concat([rest, chunk]);
    yield* completeDigests(text, false);
    // A sequence at the end may continue. Of a longer one, 65 digits are enough to know that it is no digest.
    let start = text.length;
    while (start > 0 && text.length - start <= digits && isDigit[text[start - 1]!] === 1) start -= 1;
    rest = Buffer.from(text.subarray(start));
  }
  yield* completeDigests(rest, true);
}

/** @param last whether a sequence at the end is complete */
function* completeDigests(text: Buffer, last: boolean): Generator<string> {
  // Every sequence of 64 digits contains a position that is a multiple of 64, less one.
  for (let at = digits - 1; at < text.length; at += digits) {
    if (isDigit[text[at]!] !== 1) continue;
    let start = at;
    while (start > 0 && at - start <= digits && isDigit[text[start - 1]!] === 1) start -= 1;
    let end = at + 1;
    while (end < text.length && end - start <= digits && isDigit[text[end]!] === 1) end += 1;
    if (end - start === digits && (end < text.length || last)) yield text.toString("latin1", start, end);
  }
}
