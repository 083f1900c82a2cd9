/**
 * The safetensors container, for the two element types of a feature shard: 8 bytes header length (little-endian), a JSON header
 * padded with spaces to a multiple of 8, then the tensors' bytes in the header's order. Equal tensors give equal bytes.
 * Format: https://huggingface.co/docs/safetensors.
 */
import { CorruptShardError } from "./errors";

export type FeatureTensor =
  | { readonly dtype: "F32"; readonly shape: readonly number[]; readonly values: Float32Array }
  | { readonly dtype: "I32"; readonly shape: readonly number[]; readonly values: Int32Array };

interface HeaderEntry {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}

/** Tensors are written in the order given. */
export function writeTensorFile(tensors: ReadonlyMap<string, FeatureTensor>): Uint8Array {
  const header: Record<string, HeaderEntry> = {};
  let offset = 0;
  for (const [name, { dtype, shape, values }] of tensors) {
    header[name] = { dtype, shape, data_offsets: [offset, offset + values.byteLength] };
    offset += values.byteLength;
  }
  const unpadded = JSON.stringify(header);
  const text = unpadded.padEnd(Math.ceil(unpadded.length / 8) * 8, " ");
  const file = new Uint8Array(8 + text.length + offset);
  new DataView(file.buffer).setBigUint64(0, BigInt(text.length), true);
  file.set(new TextEncoder().encode(text), 8);
  let at = 8 + text.length;
  for (const { values } of tensors.values()) {
    file.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), at);
    at += values.byteLength;
  }
  return file;
}

/** Views into `file` where it is aligned to 4 bytes, else into one copy of it. */
export function readTensorFile(file: Uint8Array): ReadonlyMap<string, FeatureTensor> {
  const aligned = file.byteOffset % 4 === 0 ? file : file.slice();
  const view = new DataView(aligned.buffer, aligned.byteOffset, aligned.byteLength);
  const headerLength = aligned.byteLength >= 8 ? Number(view.getBigUint64(0, true)) : Number.POSITIVE_INFINITY;
  if (8 + headerLength > aligned.byteLength) {
    throw new CorruptShardError(
      `its header would end at byte ${8 + headerLength}, behind its ${file.byteLength} bytes`,
    );
  }
  const header = parseHeader(aligned.subarray(8, 8 + headerLength));
  const tensors = new Map<string, FeatureTensor>();
  for (const [name, entry] of Object.entries(header)) {
    if (name === "__metadata__") continue;
    const [start, end] = entry.data_offsets;
    const size = entry.shape.reduce((product, length) => product * length, 1);
    const from = aligned.byteOffset + 8 + headerLength + start;
    if (end - start !== size * 4 || from + size * 4 > aligned.byteOffset + aligned.byteLength || from % 4 !== 0) {
      throw new CorruptShardError(`tensor ${name} of shape [${entry.shape}] claims bytes [${start}, ${end})`);
    }
    if (entry.dtype === "F32") {
      tensors.set(name, { dtype: "F32", shape: entry.shape, values: new Float32Array(aligned.buffer, from, size) });
    } else if (entry.dtype === "I32") {
      tensors.set(name, { dtype: "I32", shape: entry.shape, values: new Int32Array(aligned.buffer, from, size) });
    } else {
      throw new CorruptShardError(`tensor ${name} has type ${entry.dtype}, but a feature shard holds F32 and I32`);
    }
  }
  return tensors;
}

function parseHeader(bytes: Uint8Array): Readonly<Record<string, HeaderEntry>> {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as Record<string, HeaderEntry>;
  } catch (cause) {
    throw new CorruptShardError("its header is not JSON", cause);
  }
}
