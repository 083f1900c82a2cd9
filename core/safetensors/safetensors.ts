/**
 * The safetensors format (huggingface/safetensors): 8 bytes little-endian header length, a JSON header, then the tensors' bytes.
 * Encoding is canonical (names sorted, keys in one order, data aligned to 8 bytes): equal tensors give equal bytes.
 */
import {
  elementTypes,
  encodeHead,
  parseHeader,
  SafetensorsError,
  type SafetensorsFile,
  type SafetensorsTensor,
} from "./header";

export * from "./header";

const prefixBytes = 8;

/** @throws RangeError if a tensor's data does not fit its shape or type: a defect of the caller */
export function encodeSafetensors({ tensors, metadata }: SafetensorsFile): Uint8Array {
  const entries = Object.entries(tensors).map(([name, tensor]) => ({ name, ...tensor }));
  for (const { name, dtype, shape, data } of entries) {
    const elements = shape.reduce((product, side) => product * side, 1);
    if (data.length === elements && data.BYTES_PER_ELEMENT === elementTypes[dtype].bytes) continue;
    throw new RangeError(
      `The tensor '${name}' is ${dtype} of shape [${shape}], ${elements} elements; its data has ${data.length} of ` +
        `${data.BYTES_PER_ELEMENT} bytes.`,
    );
  }
  const { head, order } = encodeHead(entries, metadata);
  const file = new Uint8Array(entries.reduce((bytes, { data }) => bytes + data.byteLength, head.length));
  file.set(head);
  let offset = head.length;
  for (const index of order) {
    const { data } = entries[index]!;
    file.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), offset);
    offset += data.byteLength;
  }
  return file;
}

/**
 * Reads a whole file. Tensors are views of `file` if its alignment permits, else copies.
 *
 * @throws SafetensorsError with the defect: truncation, overlaps, holes, types or shapes that do not fit
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
