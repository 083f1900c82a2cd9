const probes = 7;
/** With seven probes, about one digest in a thousand that is not in the set seems to be in it. */
const bitsPerDigest = 16;
const smallestBytes = 64 * 1024;

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
    const bytes = Math.max(smallestBytes, 2 ** Math.ceil(Math.log2((count * bitsPerDigest) / 8 + 1)));
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
