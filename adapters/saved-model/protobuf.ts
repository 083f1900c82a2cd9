/**
 * The subset of Protocol Buffers' wire format (protobuf.dev/programming-guides/encoding) that ONNX files and SavedModels
 * need: varints, 32-bit floats and length-delimited fields. A message is a tree of byte parts, so that weights are copied
 * once, at the end.
 */
export type Message = Uint8Array | { readonly parts: readonly Message[]; readonly length: number };

const text = new TextEncoder();
const [varintType, bytesType, floatType] = [0, 2, 5];

export function message(...parts: readonly Message[]): Message {
  return { parts, length: parts.reduce((length, part) => length + part.length, 0) };
}

export function varintField(field: number, value: number | bigint): Message {
  return Uint8Array.from([...varint(field * 8 + varintType), ...varint(value)]);
}

export function floatField(field: number, value: number): Message {
  const bytes = new Uint8Array(Float32Array.of(value).buffer); // little-endian, as every machine that runs Node.js
  return Uint8Array.from([...varint(field * 8 + floatType), ...bytes]);
}

export function textField(field: number, value: string): Message {
  return messageField(field, text.encode(value));
}

export function messageField(field: number, value: Message): Message {
  return message(Uint8Array.from([...varint(field * 8 + bytesType), ...varint(value.length)]), value);
}

export const bytesField: (field: number, value: Uint8Array) => Message = messageField;

export function joined(whole: Message): Uint8Array {
  const all = new Uint8Array(whole.length);
  let at = 0;
  const append = (part: Message): void => {
    if (part instanceof Uint8Array) {
      all.set(part, at);
      at += part.length;
    } else for (const each of part.parts) append(each);
  };
  append(whole);
  return all;
}

/** Encodes seven bits in a byte, the least significant first; a negative number as the 64 bits of its two's complement. */
function varint(value: number | bigint): readonly number[] {
  if (value >= 0 && value < 0x80) return [Number(value)];
  const bits = BigInt.asUintN(64, BigInt(value));
  return [Number(bits & 0x7fn) | 0x80, ...varint(bits >> 7n)];
}
