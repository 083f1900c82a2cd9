/** The bytes of a part of a WebAssembly module. Numbers: WebAssembly Core Specification 2.0, section 5. */
export type Code = readonly number[];

/** Encodes an unsigned integer in LEB128. */
export function unsigned(value: number): number[] {
  const low = value & 0x7f;
  const rest = value >>> 7;
  return rest === 0 ? [low] : [low | 0x80, ...unsigned(rest)];
}

/** Encodes a signed 32-bit integer in LEB128. */
export function signed(value: number): number[] {
  const low = value & 0x7f;
  const rest = value >> 7;
  const last = (rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0);
  return last ? [low] : [low | 0x80, ...signed(rest)];
}

export function float32(value: number): Code {
  return [...new Uint8Array(Float32Array.of(value).buffer)];
}

export function float64(value: number): Code {
  return [...new Uint8Array(Float64Array.of(value).buffer)];
}

export function vector(items: Code): Code {
  return [...unsigned(items.length), ...items];
}
