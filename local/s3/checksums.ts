import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { Crc, type CrcParameters, combineCrc, crc32Parameters, crc64NvmeParameters } from "./crc";
import { invalidRequest, S3Error } from "./errors";

export type ChecksumAlgorithm = "CRC32" | "CRC64NVME" | "SHA256";

/**
 * The type of a checksum. `FULL_OBJECT` covers the object's bytes. `COMPOSITE` covers the checksums of its parts, with
 * `-N` appended.
 */
export type ChecksumType = "FULL_OBJECT" | "COMPOSITE";

export interface Checksum {
  readonly algorithm: ChecksumAlgorithm;
  readonly type: ChecksumType;
  readonly value: string;
}

export interface Hasher {
  update(bytes: Uint8Array): void;
  digest(): Buffer;
}

const crcParameters: Readonly<Partial<Record<ChecksumAlgorithm, CrcParameters>>> = {
  CRC32: crc32Parameters,
  CRC64NVME: crc64NvmeParameters,
};

export const checksumAlgorithms: readonly ChecksumAlgorithm[] = ["CRC32", "CRC64NVME", "SHA256"];

const digestBytes: Readonly<Record<ChecksumAlgorithm, number>> = {
  CRC32: 4,
  CRC64NVME: 8,
  SHA256: 32,
};

export function newHasher(algorithm: ChecksumAlgorithm): Hasher {
  if (algorithm === "CRC32") return new NativeCrc32();
  const parameters = crcParameters[algorithm];
  return parameters ? new Crc(parameters) : createHash(algorithm.toLowerCase());
}

/** Zlib's CRC-32, which uses SIMD. The SDKs use CRC-32 by default, so it must not limit transfers. */
class NativeCrc32 implements Hasher {
  private value = 0;
  update(bytes: Uint8Array): void {
    this.value = crc32(bytes, this.value);
  }
  digest(): Buffer {
    const result = Buffer.alloc(4);
    result.writeUInt32BE(this.value);
    return result;
  }
}

export const checksumHeader = (algorithm: ChecksumAlgorithm) => `x-amz-checksum-${algorithm.toLowerCase()}`;

export const checksumElement = (algorithm: ChecksumAlgorithm) => `Checksum${algorithm}`;

export function parseChecksumAlgorithm(name: string): ChecksumAlgorithm {
  const upper = name.toUpperCase();
  const supported = checksumAlgorithms.find((algorithm) => algorithm === upper);
  if (!supported) throw invalidRequest(`Checksum algorithm provided is unsupported: ${name}.`);
  return supported;
}

export function requireChecksumShape(algorithm: ChecksumAlgorithm, value: string): string {
  if (Buffer.from(value, "base64").length !== digestBytes[algorithm]) {
    throw invalidRequest(`Value for ${checksumHeader(algorithm)} header is invalid.`);
  }
  return value;
}

export interface PartChecksum {
  /** The value in base64. */
  readonly value: string;
  readonly size: number;
}

export function combineChecksums(
  algorithm: ChecksumAlgorithm,
  type: ChecksumType,
  parts: readonly PartChecksum[],
): Checksum {
  if (type === "COMPOSITE") {
    const hasher = newHasher(algorithm);
    for (const part of parts) hasher.update(Buffer.from(part.value, "base64"));
    return { algorithm, type, value: `${hasher.digest().toString("base64")}-${parts.length}` };
  }
  const parameters = crcParameters[algorithm];
  if (!parameters)
    throw invalidRequest(`The FULL_OBJECT checksum type cannot be used with the ${algorithm} algorithm.`);
  const [first, ...rest] = parts;
  let value: Buffer = Buffer.from(first!.value, "base64");
  for (const part of rest) value = combineCrc(parameters, value, Buffer.from(part.value, "base64"), part.size);
  return { algorithm, type, value: value.toString("base64") };
}

/**
 * Returns the requested checksum type or S3's default. SHA digests cannot be combined, CRC64NVME is never composite,
 * and the others are composite by default.
 */
export function resolveChecksumType(algorithm: ChecksumAlgorithm, requested: string | undefined): ChecksumType {
  if (requested !== undefined && requested !== "FULL_OBJECT" && requested !== "COMPOSITE") {
    throw invalidRequest(`Value for x-amz-checksum-type header is invalid: ${requested}.`);
  }
  const full = crcParameters[algorithm] !== undefined;
  if (requested === "FULL_OBJECT" && !full) {
    throw invalidRequest(
      `The FULL_OBJECT checksum type cannot be used with the ${algorithm.toLowerCase()} checksum algorithm.`,
    );
  }
  if (requested === "COMPOSITE" && algorithm === "CRC64NVME") {
    throw invalidRequest("The COMPOSITE checksum type cannot be used with the crc64nvme checksum algorithm.");
  }
  return requested ?? (algorithm === "CRC64NVME" ? "FULL_OBJECT" : "COMPOSITE");
}

export const checksumMismatch = (algorithm: string) =>
  new S3Error(400, "BadDigest", `The ${algorithm} you specified did not match the calculated checksum.`);
