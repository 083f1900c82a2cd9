/**
 * The subset of Protocol Buffers' wire format (protobuf.dev/programming-guides/encoding) that ONNX files and SavedModels
 * need: varints, 32-bit floats and length-delimited fields. A message is a tree of byte parts, so that weights are copied
 * once, at the end.
 */
export interface Message {
  readonly parts: readonly (Uint8Array | Message)[];
  readonly bytes: number;
}

const text = new TextEncoder();

export function message(...fields: readonly Message[]): Message {
  return { parts: fields, bytes: fields.reduce((sum, { bytes }) => sum + bytes, 0) };
}

export function varintField(field: number, value: number | bigint): Message {
  return raw(Uint8Array.from([...varint(tag(field, 0)), ...varint(value)]));
}

export function floatField(field: number, value: number): Message {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setFloat32(0, value, true);
  return raw(Uint8Array.from([...varint(tag(field, 5)), ...bytes]));
}

export function bytesField(field: number, value: Uint8Array): Message {
  return messageField(field, raw(value));
}

export function textField(field: number, value: string): Message {
  return bytesField(field, text.encode(value));
}

export function messageField(field: number, value: Message): Message {
  return message(raw(Uint8Array.from([...varint(tag(field, 2)), ...varint(value.bytes)])), value);
}

/** Joins the message's parts. */
export function joined(whole: Message): Uint8Array {
  const all = new Uint8Array(whole.bytes);
  let at = 0;
  const append = (part: Uint8Array | Message): void => {
    if (!(part instanceof Uint8Array)) {
      for (const each of part.parts) append(each);
      return;
    }
    all.set(part, at);
    at += part.length;
  };
  append(whole);
  return all;
}

function raw(bytes: Uint8Array): Message {
  return { parts: [bytes], bytes: bytes.length };
}

function tag(field: number, wireType: number): number {
  return field * 8 + wireType;
}

/**
 * Encodes seven bits in a byte, the least significant first; a negative number as the 64 bits of its two's complement.
 */
function varint(value: number | bigint): readonly number[] {
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes: number[] = [];
  do {
    const more = rest > 0x7fn;
    bytes.push(Number(rest & 0x7fn) | (more ? 0x80 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return bytes;
}
