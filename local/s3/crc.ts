/**
 * The parameters of a cyclic redundancy check in the reflected form that S3 uses (initial value and final xor all
 * ones). Two CRCs can be combined: crc(A), crc(B) and |B| give crc(AB). Zlib's `crc32_combine` explains the algebra:
 * appending one zero byte is a linear map over GF(2), and squaring that map doubles the number of zeros.
 */
export interface CrcParameters {
  readonly bits: 32 | 64;
  /** The generator polynomial with reversed bits. */
  readonly polynomial: bigint;
}

export const crc32Parameters: CrcParameters = { bits: 32, polynomial: 0xedb88320n };
export const crc64NvmeParameters: CrcParameters = { bits: 64, polynomial: 0x9a6c9329ac4bc9b5n };

/** The bytes processed per step ("slicing by 8", Kounavis and Berry 2005). */
const slices = 8;

interface Tables {
  readonly low: readonly Uint32Array[];
  readonly high: readonly Uint32Array[];
}

/** Builds the tables. `tables[k][b]` is the effect of byte `b` followed by `k` zero bytes, as two 32-bit halves. */
function makeTables({ polynomial }: CrcParameters): Tables {
  const low = Array.from({ length: slices }, () => new Uint32Array(256));
  const high = Array.from({ length: slices }, () => new Uint32Array(256));
  const first: bigint[] = [];
  for (let byte = 0; byte < 256; byte++) {
    let value = BigInt(byte);
    for (let bit = 0; bit < 8; bit++) value = value & 1n ? (value >> 1n) ^ polynomial : value >> 1n;
    first.push(value);
  }
  for (let byte = 0; byte < 256; byte++) {
    let value = first[byte]!;
    for (let k = 0; k < slices; k++) {
      low[k]![byte] = Number(value & 0xffffffffn);
      high[k]![byte] = Number(value >> 32n);
      value = first[Number(value & 0xffn)]! ^ (value >> 8n);
    }
  }
  return { low, high };
}

/** A running CRC of up to 64 bits, stored as two 32-bit halves. BigInt arithmetic is about a hundred times slower. */
export class Crc {
  private readonly tables: Tables;
  private readonly parameters: CrcParameters;
  private low = 0xffffffff;
  private high: number;

  constructor(parameters: CrcParameters) {
    this.parameters = parameters;
    this.tables = tablesOf(parameters);
    this.high = parameters.bits === 64 ? 0xffffffff : 0;
  }

  update(bytes: Uint8Array): void {
    const [l0, l1, l2, l3, l4, l5, l6, l7] = this.tables.low as unknown as Eight;
    const [h0, h1, h2, h3, h4, h5, h6, h7] = this.tables.high as unknown as Eight;
    let low = this.low;
    let high = this.high;
    let i = 0;
    for (const end = bytes.length - 7; i < end; i += 8) {
      const a = low ^ (bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24));
      const b = high ^ (bytes[i + 4]! | (bytes[i + 5]! << 8) | (bytes[i + 6]! << 16) | (bytes[i + 7]! << 24));
      const a0 = a & 255;
      const a1 = (a >>> 8) & 255;
      const a2 = (a >>> 16) & 255;
      const a3 = a >>> 24;
      const b0 = b & 255;
      const b1 = (b >>> 8) & 255;
      const b2 = (b >>> 16) & 255;
      const b3 = b >>> 24;
      low = l7[a0]! ^ l6[a1]! ^ l5[a2]! ^ l4[a3]! ^ l3[b0]! ^ l2[b1]! ^ l1[b2]! ^ l0[b3]!;
      high = h7[a0]! ^ h6[a1]! ^ h5[a2]! ^ h4[a3]! ^ h3[b0]! ^ h2[b1]! ^ h1[b2]! ^ h0[b3]!;
    }
    for (; i < bytes.length; i++) {
      const index = (low ^ bytes[i]!) & 255;
      low = ((low >>> 8) | (high << 24)) ^ l0[index]!;
      high = (high >>> 8) ^ h0[index]!;
    }
    this.low = low;
    this.high = high;
  }

  digest(): Buffer {
    const result = Buffer.alloc(8);
    const wide = this.parameters.bits === 64;
    result.writeUInt32BE(wide ? ~this.high >>> 0 : 0, 0);
    result.writeUInt32BE(~this.low >>> 0, 4);
    return wide ? result : result.subarray(4);
  }
}

type Eight = readonly [
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
];

const tableCache = new Map<bigint, Tables>();

function tablesOf(parameters: CrcParameters): Tables {
  let tables = tableCache.get(parameters.polynomial);
  if (!tables) {
    tables = makeTables(parameters);
    tableCache.set(parameters.polynomial, tables);
  }
  return tables;
}

/** Returns the CRC of A followed by B, from their CRCs (big-endian) and the length of B in bytes. */
export function combineCrc(parameters: CrcParameters, a: Uint8Array, b: Uint8Array, lengthOfB: number): Buffer {
  let value = toBigInt(a);
  let matrix = Array.from({ length: parameters.bits }, (_, bit) =>
    bit === 0 ? parameters.polynomial : 1n << BigInt(bit - 1),
  );
  for (let zeroBits = BigInt(lengthOfB) * 8n; zeroBits > 0n; zeroBits >>= 1n) {
    if (zeroBits & 1n) value = multiply(matrix, value);
    if (zeroBits > 1n) matrix = matrix.map((column) => multiply(matrix, column));
  }
  const combined = (value ^ toBigInt(b)).toString(16).padStart(parameters.bits / 4, "0");
  return Buffer.from(combined, "hex");
}

function multiply(matrix: readonly bigint[], vector: bigint): bigint {
  let sum = 0n;
  for (let bit = 0; vector > 0n; bit++, vector >>= 1n) {
    if (vector & 1n) sum ^= matrix[bit]!;
  }
  return sum;
}

function toBigInt(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString("hex") || "0"}`);
}
