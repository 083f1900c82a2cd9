/** Returns a whole number below 2^32 that looks random: the finalizer of MurmurHash3, which is one-to-one below 2^32. */
export function rowHash(row: number): number {
  let mixed = row | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
