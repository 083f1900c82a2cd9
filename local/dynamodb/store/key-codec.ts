import { crc32 } from "node:zlib";
import type { AttributeValue, KeyType } from "../value/attribute-value";
import { normalizeNumber, parseDecimal } from "../value/number";

/**
 * The kinds of keys in the LevelDB store. LevelDB orders keys by bytes. Each part is therefore encoded so that its bytes
 * have the order that DynamoDB gives to the values, and so that no encoding is a prefix of another.
 *
 *     table     T name
 *     item      I table bucket hash range
 *     index     X table index bucket indexHash indexRange hash range
 *     expiry    E table second hash range        (second: when TTL deletes the item)
 *     removed   D kind table index               (a table or index whose derived entries are to be deleted)
 *     token     K token                          (an applied transaction)
 *     forget    F millisecond token              (when the token is deleted)
 *
 * `bucket` is 16 bits of the partition key's CRC. It scatters partitions, as DynamoDB does. The order of a scan is
 * therefore arbitrary.
 */
export const kind = {
  table: "T",
  item: "I",
  index: "X",
  expiry: "E",
  removed: "D",
  token: "K",
  forget: "F",
} as const;

type Kind = (typeof kind)[keyof typeof kind];
export const buckets = 0x10000;

export function compose(keyKind: Kind, numbers: readonly number[], ...tail: readonly Uint8Array[]): Buffer {
  const head = Buffer.allocUnsafe(1 + 4 * numbers.length);
  head.write(keyKind, 0, "latin1");
  for (const [i, number] of numbers.entries()) head.writeUInt32BE(number, 1 + 4 * i);
  return Buffer.concat([head, ...tail]);
}

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

/** Encodes a key attribute's value (S, N or B). The encoding keeps the order and marks its own end. */
export function encodeScalar(value: AttributeValue): Buffer {
  if ("S" in value) return terminated(Buffer.from(value.S, "utf8"));
  if ("B" in value) return terminated(Buffer.from(value.B, "base64"));
  if ("N" in value) return encodeNumber(value.N);
  throw new Error("Only strings, numbers and binaries can be keys; a request with another was not refused");
}

/**
 * Decodes a value that `encodeScalar` has written at the beginning of the bytes. Also returns the number of bytes read.
 */
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

/** Returns the common first bytes of the encodings of all strings or binary values that start with `prefix`. */
export function encodePrefix(prefix: AttributeValue): Buffer {
  return encodeScalar(prefix).subarray(0, -2);
}

/** Writes 00 as 00 ff and ends with 00 01. A prefix then sorts first, and no content looks like the end. */
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
 * Encodes a number: the sign (0 negative, 1 zero, 2 positive), the exponent + 130 in one byte, pairs of digits as
 * 1–100, and a final 0. The bytes after a negative sign are complemented, which reverses the order.
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
