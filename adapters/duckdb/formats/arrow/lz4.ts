/**
 * Decodes the LZ4 frame of an Arrow buffer. Arrow puts the decoded size, in eight bytes, right before the frame.
 *
 * Source: LZ4 Frame Format 1.6 and LZ4 Block Format (lz4/doc). Checksums are not compared.
 *
 * @throws Error if the frame is damaged or has another size
 */
export function decodeLz4Frame(frame: Uint8Array): Uint8Array {
  const { buffer, byteOffset, length } = frame;
  const output = new Uint8Array(Number(new DataView(buffer, byteOffset - 8, 8).getBigInt64(0, true)));
  const view = new DataView(buffer, byteOffset, length);
  if (view.getUint32(0, true) !== 0x184d2204) throw new Error("an LZ4 frame must begin with its magic number");
  const flags = view.getUint8(4);
  const hasBlockChecksums = (flags & 0x10) !== 0;
  // Magic number, flags, block size, sizes that the flags announce, and the header's checksum.
  let at = 6 + ((flags & 0x08) !== 0 ? 8 : 0) + ((flags & 0x01) !== 0 ? 4 : 0) + 1;
  let end = 0;
  for (;;) {
    const header = view.getUint32(at, true);
    at += 4;
    if (header === 0) break;
    const size = header & 0x7fffffff;
    if (at + size > length) throw new Error("an LZ4 block ends after its buffer");
    const block = frame.subarray(at, at + size);
    if (header >>> 31 === 1) {
      output.set(block, end);
      end += size;
    } else end = decodeBlock(block, output, end);
    at += size + (hasBlockChecksums ? 4 : 0);
  }
  if (end !== output.length) throw new Error(`an LZ4 frame has ${end} bytes instead of ${output.length}`);
  return output;
}

/** Decodes a block to `output` from `start` on. It may copy from the output of earlier blocks. Returns the new end. */
function decodeBlock(block: Uint8Array, output: Uint8Array, start: number): number {
  let at = 0;
  let end = start;
  const lengthOf = (first: number): number => {
    let length = first;
    for (let more = first === 15 ? 255 : 0; more === 255; length += more) more = block[at++] ?? damaged();
    return length;
  };
  while (at < block.length) {
    const token = block[at++]!;
    const literals = lengthOf(token >> 4);
    if (at + literals > block.length || end + literals > output.length) damaged();
    output.set(block.subarray(at, at + literals), end);
    at += literals;
    end += literals;
    if (at === block.length) break; // The last sequence has no match.
    const distance = (block[at] ?? damaged()) | ((block[at + 1] ?? damaged()) << 8);
    at += 2;
    const matched = lengthOf(token & 15) + 4;
    const from = end - distance;
    if (distance === 0 || from < 0 || end + matched > output.length) damaged();
    if (distance >= matched) output.copyWithin(end, from, from + matched);
    // A match that overlaps its own output repeats it.
    else for (let i = 0; i < matched; i += 1) output[end + i] = output[from + i]!;
    end += matched;
  }
  return end;
}

function damaged(): never {
  throw new Error("an LZ4 block is damaged");
}
