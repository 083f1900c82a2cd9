import { murmurHash3 } from "../../../core/features/category-codes";

// Values of the reference implementation (smhasher) and of scikit-learn's murmurhash3_32.
it.each([
  ["", 0],
  ["a", 0x3c2569b2],
  ["abcd", 0x43ed676a],
  ["hello", 0x248bfa47],
  ["Hello, world!", 0xc0363e43],
  ["The quick brown fox jumps over the lazy dog", 0x2e4ff723],
])("hashes %j", (text, hash) => expect(murmurHash3(text)).toBe(hash));
