/**
 * The subset of Protocol Buffers' wire format (protobuf.dev/programming-guides/encoding) that ONNX files and SavedModels
 * need: varints, 32-bit floats and length-delimited fields. A message is a tree of byte parts, so that weights are copied
 * once, at the end.
 */
export type Message = Uint8Array | Sequence;

interface Sequence {
  readonly parts: readonly Message[];
  readonly length: number;
}

const text = new TextEncoder();
const [varintType, bytesType, floatType] = [0, 2, 5];

export function message(...fields: readonly Message[]): Message {
  let length = 0;
  for (const field of fields) length += field.length;
  return { parts: fields, length };
}

export function varintField(field: number, value: number | bigint): Message {
  if (typeof value === "number" && value >= 0 && value < 2 ** 32) return started(field, varintType, value, 0);
  // A negative number is the 64 bits of its two's complement.
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes = [...started(field, varintType, undefined, 0)];
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Uint8Array.from([...bytes, Number(rest)]);
}

export function floatField(field: number, value: number): Message {
  const bytes = started(field, floatType, undefined, 4);
  new DataView(bytes.buffer).setFloat32(bytes.length - 4, value, true);
  return bytes;
}

export function bytesField(field: number, value: Uint8Array): Message {
  return messageField(field, value);
}

export function textField(field: number, value: string): Message {
  const { length } = value;
  const bytes = started(field, bytesType, length, length);
  const start = bytes.length - length;
  for (let i = 0; i < length; i++) {
    const code = value.charCodeAt(i);
    if (code > 0x7f) return messageField(field, text.encode(value));
    bytes[start + i] = code;
  }
  return bytes;
}

export function messageField(field: number, value: Message): Message {
  const { length } = value;
  if (value instanceof Uint8Array && length <= maxShort) {
    const bytes = started(field, bytesType, length, length);
    copy(value, bytes, bytes.length - length);
    return bytes;
  }
  const start = started(field, bytesType, length, 0);
  return { parts: [start, value], length: start.length + length };
}

/** Joins the message's parts. */
export function joined(whole: Message): Uint8Array {
  const all = new Uint8Array(whole.length);
  let at = 0;
  const append = (part: Message): void => {
    if (part instanceof Uint8Array) {
      copy(part, all, at);
      at += part.length;
    } else for (const each of part.parts) append(each);
  };
  append(whole);
  return all;
}

/** Most parts are short: a call of `set` would take longer than their bytes. */
const maxShort = 48;

function copy(from: Uint8Array, to: Uint8Array, at: number): void {
  if (from.length > maxShort) to.set(from, at);
  else for (let i = 0; i < from.length; i++) to[at + i] = from[i]!;
}

/** Returns a field's tag, then a number unless it is undefined, and room for more bytes. */
function started(field: number, wireType: number, value: number | undefined, more: number): Uint8Array<ArrayBuffer> {
  const tag = field * 8 + wireType;
  const bytes = new Uint8Array(sizeOf(tag) + (value === undefined ? 0 : sizeOf(value)) + more);
  const at = writeVarint(bytes, 0, tag);
  if (value !== undefined) writeVarint(bytes, at, value);
  return bytes;
}

const sizeOf = (value: number): number => 1 + Math.floor((31 - Math.clz32(value | 1)) / 7);

/** Encodes seven bits in a byte, the least significant first. @param value less than 2^32 @returns the position after it */
function writeVarint(to: Uint8Array, at: number, value: number): number {
  let position = at;
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) to[position++] = (rest & 0x7f) | 0x80;
  to[position++] = rest;
  return position;
}
