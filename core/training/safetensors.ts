/**
 * The safetensors format (huggingface/safetensors): 8 bytes little-endian header length, a JSON header, then the tensors' bytes.
 * Encoding is canonical (names sorted, keys in one order, data aligned to 8 bytes): equal tensors give equal bytes.
 */
import { parseHeader } from "./safetensors-header";
import { elementTypes, SafetensorsError, type SafetensorsFile, type SafetensorsTensor } from "./safetensors-types";

export * from "./safetensors-types";

const prefixBytes = 8;
const alignment = 8;

/** Names of the tensors in the order of their bytes: the widest types first, so that each is aligned, then by name. */
function writingOrder(tensors: SafetensorsFile["tensors"]): readonly (readonly [string, SafetensorsTensor])[] {
  return Object.entries(tensors).sort(
    ([a, x], [b, y]) => elementTypes[y.dtype].bytes - elementTypes[x.dtype].bytes || (a < b ? -1 : 1),
  );
}

/** @throws RangeError when a tensor's data does not fit its shape or type: a bug of the caller. */
export function encodeSafetensors({ tensors, metadata }: SafetensorsFile): Uint8Array {
  const entries = writingOrder(tensors);
  const header: Record<string, unknown> = {};
  if (metadata) header.__metadata__ = Object.fromEntries(Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1)));
  let end = 0;
  for (const [name, { dtype, shape, data }] of entries) {
    const elements = shape.reduce((product, side) => product * side, 1);
    const type = elementTypes[dtype];
    if (name === "__metadata__") throw new RangeError("A tensor cannot be named '__metadata__'.");
    if (data.length !== elements || data.BYTES_PER_ELEMENT !== type.bytes) {
      throw new RangeError(
        `The tensor '${name}' is ${dtype} of shape [${shape}], ${elements} elements; its data has ${data.length} of ` +
          `${data.BYTES_PER_ELEMENT} bytes.`,
      );
    }
    header[name] = { dtype, shape, data_offsets: [end, end + data.byteLength] };
    end += data.byteLength;
  }
  const json = new TextEncoder().encode(JSON.stringify(header));
  const headerBytes = Math.ceil(json.length / alignment) * alignment;
  const start = prefixBytes + headerBytes;
  const file = new Uint8Array(start + end);
  new DataView(file.buffer).setBigUint64(0, BigInt(headerBytes), true);
  file.fill(0x20, prefixBytes, start); // the format pads its header with spaces
  file.set(json, prefixBytes);
  let offset = start;
  for (const [, { data }] of entries) {
    file.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), offset);
    offset += data.byteLength;
  }
  return file;
}

/**
 * Reads a whole file. Tensors are views of `file` where its alignment allows, else copies.
 *
 * @throws SafetensorsError naming what is wrong: truncation, overlaps, holes, types or shapes that do not fit.
 */
export function decodeSafetensors(file: Uint8Array): SafetensorsFile {
  if (file.length < prefixBytes) throw new SafetensorsError(`it has ${file.length} bytes, but at least 8 are needed.`);
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const headerBytes = view.getBigUint64(0, true);
  if (headerBytes > BigInt(file.length - prefixBytes)) {
    throw new SafetensorsError(`its header says ${headerBytes} bytes, but only ${file.length - prefixBytes} follow.`);
  }
  const start = prefixBytes + Number(headerBytes);
  const { slots, metadata } = parseHeader(file.subarray(prefixBytes, start), file.length - start);
  const entries = slots.map(({ name, dtype, shape, begin, end }): [string, SafetensorsTensor] => {
    const { bytes, create } = elementTypes[dtype];
    const at = file.byteOffset + start + begin;
    const aligned = at % bytes === 0;
    const buffer = aligned ? file.buffer : file.slice(start + begin, start + end).buffer;
    return [name, { dtype, shape, data: create(buffer, aligned ? at : 0, (end - begin) / bytes) }];
  });
  const tensors = Object.fromEntries(entries);
  return metadata ? { tensors, metadata } : { tensors };
}
