import { crc32 } from "node:zlib";
import type { AttributeValue, KeyType } from "../value/attribute-value";
import { normalizeNumber, parseDecimal } from "../value/number";

/**
 * Keys of the LevelDB store. LevelDB orders by bytes, so each part is encoded such that the order of its bytes is the order
 * that DynamoDB gives to the values, and such that no encoding is a prefix of another.
 *
 *     table     T name
 *     copy      t name                           (of a table, which `repair` restores it from)
 *     item      I table bucket hash range
 *     index     X table index bucket indexHash indexRange hash range
 *     expiry    E table second hash range        (second: when TTL lets the item go)
 *     count     C table
 *     doomed    D kind table index               (a table or an index whose entries are yet to be removed)
 *     token     K token                          (a transaction carried out)
 *     forget    F millisecond token              (when its token may be forgotten)
 *
 * `bucket` is 16 bits of the partition key's CRC: it scatters partitions, as DynamoDB does, so that scans come in no
 * meaningful order and the segments of a parallel scan are contiguous ranges.
 */
export const kind = {
  table: "T",
  copy: "t",
  item: "I",
  index: "X",
  expiry: "E",
  count: "C",
  doomed: "D",
  token: "K",
  forget: "F",
} as const;

export type Kind = (typeof kind)[keyof typeof kind];
export const buckets = 0x10000;

/** A key of a kind made of 32-bit numbers and a tail. */
export function compose(of: Kind, numbers: readonly number[], ...tail: readonly Uint8Array[]): Buffer {
  const head = Buffer.allocUnsafe(1 + 4 * numbers.length);
  head.write(of, 0, "latin1");
  for (const [i, number] of numbers.entries()) head.writeUInt32BE(number, 1 + 4 * i);
  return Buffer.concat([head, ...tail]);
}

/** The first key after all that start with `prefix`. */
export function successor(prefix: Uint8Array): Buffer {
  const end = Buffer.from(prefix);
  for (let i = end.length - 1; i >= 0; i--) {
    if (end[i] !== 0xff) {
      end[i]!++;
      return end.subarray(0, i + 1);
    }
  }
  throw new Error("No key comes after a prefix of 0xff bytes alone");
}

export function bucketOf(encodedHash: Uint8Array): Buffer {
  const bucket = Buffer.allocUnsafe(2);
  bucket.writeUInt16BE(crc32(encodedHash) >>> 16, 0);
  return bucket;
}

/** A key attribute's value (S, N or B) in order-preserving, self-delimiting form. */
export function encodeScalar(value: AttributeValue): Buffer {
  if ("S" in value) return terminated(Buffer.from(value.S, "utf8"));
  if ("B" in value) return terminated(Buffer.from(value.B, "base64"));
  if ("N" in value) return encodeNumber(value.N);
  throw new Error("Only strings, numbers and binaries can be keys; a request with another was not refused");
}

/** Reads back what `encodeScalar` wrote at the beginning of the bytes, and says how many bytes it took. */
export function decodeScalar(
  bytes: Buffer,
  type: KeyType,
): { readonly value: AttributeValue; readonly length: number } {
  if (type === "N") return decodeNumber(bytes);
  const content: number[] = [];
  for (let at = 0; ; at++) {
    const byte = bytes[at];
    if (byte === undefined) throw new Error("A key ends in the middle of a value");
    if (byte !== 0) content.push(byte);
    else if (bytes[++at] === 0xff) content.push(0);
    else {
      const text = Buffer.from(content);
      return { value: type === "S" ? { S: text.toString("utf8") } : { B: text.toString("base64") }, length: at + 1 };
    }
  }
}

/** The bytes that the encoding of every string or binary starting with `prefix` starts with. */
export function encodePrefix(prefix: AttributeValue): Buffer {
  return encodeScalar(prefix).subarray(0, -2);
}

/** Bytes with 00 written as 00 ff, closed by 00 01: a prefix sorts first, and nothing inside looks like the end. */
function terminated(bytes: Buffer): Buffer {
  if (!bytes.includes(0)) return Buffer.concat([bytes, end]);
  const out: number[] = [];
  for (const byte of bytes) {
    out.push(byte);
    if (byte === 0) out.push(0xff);
  }
  return Buffer.concat([Buffer.from(out), end]);
}

const end = Buffer.from([0, 1]);

/**
 * Sign (0 negative, 1 zero, 2 positive), the exponent + 130 in one byte, digits in pairs as 1–100, closed by 0. All bytes
 * after a negative sign are complemented, which turns the order round.
 */
function encodeNumber(text: string): Buffer {
  const { sign, digits, exponent } = parseDecimal(text);
  if (sign === 0) return Buffer.from([1]);
  const bytes = [sign + 1, exponent + 130];
  for (let i = 0; i < digits.length; i += 2) bytes.push(1 + Number(digits.slice(i, i + 2).padEnd(2, "0")));
  bytes.push(0);
  if (sign < 0) for (let i = 1; i < bytes.length; i++) bytes[i] = 0xff - bytes[i]!;
  return Buffer.from(bytes);
}

function decodeNumber(bytes: Buffer): { readonly value: AttributeValue; readonly length: number } {
  const sign = bytes[0];
  if (sign === 1) return { value: { N: "0" }, length: 1 };
  const flip = sign === 0 ? 0xff : 0;
  let digits = "";
  let at = 2;
  for (; (bytes[at] ?? flip) !== flip; at++) digits += String((bytes[at]! ^ flip) - 1).padStart(2, "0");
  const exponent = (bytes[1]! ^ flip) - 130;
  const N = normalizeNumber(`${sign === 0 ? "-" : ""}${digits.slice(0, 1)}.${digits.slice(1)}e${exponent}`);
  return { value: { N }, length: at + 1 };
}
