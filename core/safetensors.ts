/**
 * The safetensors format (huggingface/safetensors): 8 bytes little-endian header length, a JSON header, then the tensors' bytes.
 * Encoding is canonical (names sorted, keys in one order, data aligned to 8 bytes): equal tensors give equal bytes.
 */

import { documentLimits, parseJson } from "./json-text";

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

type SafetensorsType = "F32" | "F64" | "I32" | "I64" | "U32" | "U8";

type SafetensorsData = Float32Array | Float64Array | Int32Array | BigInt64Array | Uint32Array | Uint8Array;

export interface SafetensorsTensor {
  readonly dtype: SafetensorsType;
  readonly shape: readonly number[];
  /** Row-major; as many elements as the shape has. */
  readonly data: SafetensorsData;
}

export interface SafetensorsFile {
  readonly tensors: Readonly<Record<string, SafetensorsTensor>>;
  readonly metadata?: Readonly<Record<string, string>>;
}

export class SafetensorsError extends Error {
  readonly code = "INVALID_SAFETENSORS";
  readonly httpStatus = 422;
  readonly retryable = false;

  constructor(message: string, cause?: unknown) {
    super(`Not a readable safetensors file: ${message}`, cause === undefined ? undefined : { cause });
    this.name = "SafetensorsError";
  }
}

interface ElementType {
  readonly bytes: number;
  readonly create: (buffer: ArrayBufferLike, offset: number, length: number) => SafetensorsData;
}

const elementTypes: Readonly<Record<SafetensorsType, ElementType>> = {
  F32: { bytes: 4, create: (buffer, offset, length) => new Float32Array(buffer, offset, length) },
  F64: { bytes: 8, create: (buffer, offset, length) => new Float64Array(buffer, offset, length) },
  I32: { bytes: 4, create: (buffer, offset, length) => new Int32Array(buffer, offset, length) },
  I64: { bytes: 8, create: (buffer, offset, length) => new BigInt64Array(buffer, offset, length) },
  U32: { bytes: 4, create: (buffer, offset, length) => new Uint32Array(buffer, offset, length) },
  U8: { bytes: 1, create: (buffer, offset, length) => new Uint8Array(buffer, offset, length) },
};

interface TensorSlot {
  readonly name: string;
  readonly dtype: SafetensorsType;
  readonly shape: readonly number[];
  /** Bytes `[begin, end)` after the header. */
  readonly begin: number;
  readonly end: number;
}

interface SafetensorsHeader {
  readonly slots: readonly TensorSlot[];
  readonly metadata?: Readonly<Record<string, string>>;
}

const alignment = 8;

/**
 * Encodes the start of a file with these tensors: the length prefix and the padded header. The tensors' bytes follow
 * without gaps in the returned `order`, indexes into `tensors`: the widest types first, so that each is aligned, then
 * by name.
 */
export function encodeHead(
  tensors: readonly Pick<TensorSlot, "name" | "dtype" | "shape">[],
  metadata?: SafetensorsHeader["metadata"],
): { readonly head: Uint8Array<ArrayBuffer>; readonly order: readonly number[] } {
  const order = tensors
    .map((_, index) => index)
    .sort((i, j) => {
      const [a, b] = [tensors[i]!, tensors[j]!];
      return elementTypes[b.dtype].bytes - elementTypes[a.dtype].bytes || (a.name < b.name ? -1 : 1);
    });
  const header: Record<string, unknown> = {};
  if (metadata) header.__metadata__ = Object.fromEntries(Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1)));
  let end = 0;
  for (const index of order) {
    const { name, dtype, shape } = tensors[index]!;
    if (name === "__metadata__") throw new RangeError("A tensor cannot be named '__metadata__'.");
    const begin = end;
    end += shape.reduce((product, side) => product * side, elementTypes[dtype].bytes);
    header[name] = { dtype, shape, data_offsets: [begin, end] };
  }
  const json = new TextEncoder().encode(JSON.stringify(header));
  const headerBytes = Math.ceil(json.length / alignment) * alignment;
  const head = new Uint8Array(prefixBytes + headerBytes).fill(0x20); // the format pads its header with spaces
  new DataView(head.buffer).setBigUint64(0, BigInt(headerBytes), true);
  head.set(json, prefixBytes);
  return { head, order };
}

/** Checks every field before any is used. The slots must cover the data without gap or overlap. */
function parseHeader(bytes: Uint8Array, dataBytes: number): SafetensorsHeader {
  let header: unknown;
  try {
    header = parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes), documentLimits);
  } catch (error) {
    throw new SafetensorsError(`its header is not JSON (${(error as Error).message}).`, error);
  }
  if (typeof header !== "object" || header === null || Array.isArray(header)) {
    throw new SafetensorsError("its header is not an object.");
  }
  const { __metadata__: metadata, ...entries } = header as Record<string, unknown>;
  const slots = Object.entries(entries).map(([name, entry]) => parseSlot(name, entry, dataBytes));
  checkCover(slots, dataBytes);
  return metadata === undefined ? { slots } : { slots, metadata: parseMetadata(metadata) };
}

function parseSlot(name: string, entry: unknown, dataBytes: number): TensorSlot {
  const fail = (what: string): never => {
    throw new SafetensorsError(`the tensor '${name}' ${what}.`);
  };
  const { dtype, shape, data_offsets: offsets } = (entry ?? {}) as Record<string, unknown>;
  if (typeof dtype !== "string" || !Object.hasOwn(elementTypes, dtype)) {
    return fail(`has dtype ${JSON.stringify(dtype)}; supported are ${Object.keys(elementTypes).join(", ")}`);
  }
  const isSize = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
  if (!Array.isArray(shape) || !shape.every(isSize))
    return fail(`has shape ${JSON.stringify(shape)}, not a list of sizes`);
  if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(isSize)) {
    return fail(`has data_offsets ${JSON.stringify(offsets)}, not [begin, end]`);
  }
  const [begin, end] = offsets as [number, number];
  if (begin > end || end > dataBytes) return fail(`lies at [${begin}, ${end}), but the data has ${dataBytes} bytes`);
  const bytes = shape.reduce((product, side) => product * side, elementTypes[dtype as SafetensorsType].bytes);
  if (bytes !== end - begin) return fail(`needs ${bytes} bytes for ${dtype} [${shape}], but has ${end - begin}`);
  return { name, dtype: dtype as SafetensorsType, shape, begin, end };
}

function checkCover(slots: readonly TensorSlot[], dataBytes: number): void {
  let position = 0;
  for (const { name, begin, end } of [...slots].sort((a, b) => a.begin - b.begin || a.end - b.end)) {
    if (begin !== position) {
      throw new SafetensorsError(`the tensor '${name}' begins at ${begin}, but the one before it ends at ${position}.`);
    }
    position = end;
  }
  if (position !== dataBytes)
    throw new SafetensorsError(`its tensors end at ${position}, but the data has ${dataBytes} bytes.`);
}

function parseMetadata(value: unknown): Readonly<Record<string, string>> {
  if (typeof value === "object" && value !== null && Object.values(value).every((item) => typeof item === "string")) {
    return value as Record<string, string>;
  }
  throw new SafetensorsError("its __metadata__ is not a map of strings.");
}
