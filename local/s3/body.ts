import { createHash, type Hash } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { signedPayloadOf } from "../sigv4/payload";
import {
  type Checksum,
  type ChecksumAlgorithm,
  checksumAlgorithms,
  checksumHeader,
  checksumMismatch,
  type Hasher,
  newHasher,
  parseChecksumAlgorithm,
  requireChecksumShape,
} from "./checksums";
import { AwsChunkedDecoder } from "./chunked";
import { S3Error } from "./errors";

/** The largest body of one request: S3's limit for PutObject, UploadPart and CopyObject. */
export const maxBodyBytes = 5 * 1024 ** 3;

export interface BodyDigest {
  readonly size: number;
  /** The MD5 in lowercase hex. */
  readonly md5: string;
  /** The SHA-256 in lowercase hex. Undefined unless the client sent it or the caller requested it. */
  readonly sha256?: string;
  readonly checksum?: Checksum;
}

/**
 * Passes the payload of a request to `sink` chunk by chunk, decoded if it is aws-chunked. Verifies everything that the
 * client states about it: length, Content-MD5, payload hash, and the checksum in a header or a trailer.
 *
 * The next chunk is read only after `sink` has resolved, so a slow `sink` does not need more memory.
 */
export async function receiveBody(
  request: IncomingMessage,
  sink: (chunk: Uint8Array) => Promise<void> | undefined,
  options: { readonly limit?: number; readonly algorithm?: ChecksumAlgorithm; readonly sha256?: boolean } = {},
): Promise<BodyDigest> {
  const limit = options.limit ?? maxBodyBytes;
  const { headers } = request;
  const declared = declaredLength(headers);
  if (declared === undefined && headers["transfer-encoding"] !== undefined) {
    throw new S3Error(411, "MissingContentLength", "You must provide the Content-Length HTTP header.");
  }
  if (declared !== undefined && declared > limit) throw tooLarge(declared, limit);
  const { digest, chunks } = signedPayloadOf(request);
  const verifier = new Verifier(headers, digest, options);
  const decoder = isAwsChunked(headers) || chunks ? new AwsChunkedDecoder(chunks) : undefined;
  let size = 0;
  const take = (chunk: Uint8Array) => {
    size += chunk.length;
    if (size > limit) throw tooLarge(size, limit);
    verifier.update(chunk);
    return sink(chunk);
  };
  // The request is not destroyed on an early exit, because the answer uses the same connection.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    if (decoder) for (const part of decoder.push(chunk)) await take(part);
    else await take(chunk);
  }
  if ((decoder && !decoder.done) || (declared !== undefined && declared !== size)) {
    throw new S3Error(
      400,
      "IncompleteBody",
      `The request body ended after ${size} bytes of payload; its headers announced ${declared ?? "more"}.`,
    );
  }
  return { size, ...verifier.finish(decoder?.trailers) };
}

export async function receiveText(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  await receiveBody(
    request,
    (chunk) => {
      chunks.push(chunk);
      return undefined;
    },
    { limit: 8 * 1024 ** 2 },
  );
  return Buffer.concat(chunks).toString("utf8");
}

function isAwsChunked(headers: IncomingHttpHeaders): boolean {
  return (
    /\baws-chunked\b/i.test(String(headers["content-encoding"] ?? "")) ||
    String(headers["x-amz-content-sha256"] ?? "").startsWith("STREAMING-")
  );
}

function declaredLength(headers: IncomingHttpHeaders): number | undefined {
  const decoded = headers["x-amz-decoded-content-length"];
  const text = decoded ?? (isAwsChunked(headers) ? undefined : headers["content-length"]);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new S3Error(400, "InvalidArgument", `The body's length is ${text}, but must be a number of bytes.`);
  }
  return value;
}

const tooLarge = (size: number, limit: number) =>
  new S3Error(400, "EntityTooLarge", "Your proposed upload exceeds the maximum allowed size", {
    extra: { ProposedSize: String(size), MaxSizeAllowed: String(limit) },
  });

class Verifier {
  private readonly md5: Hash = createHash("md5");
  private readonly sha256: Hash | undefined;
  private readonly expectedSha256: string | undefined;
  private readonly expectedMd5: string | undefined;
  private readonly algorithm: ChecksumAlgorithm | undefined;
  private readonly hasher: Hasher | undefined;
  private readonly expected: string | undefined;
  private readonly fromTrailer: boolean;

  constructor(
    headers: IncomingHttpHeaders,
    digest: string | undefined,
    options: { algorithm?: ChecksumAlgorithm; sha256?: boolean },
  ) {
    const named = checksumAlgorithms.filter((candidate) => headers[checksumHeader(candidate)] !== undefined);
    if (named.length > 1) {
      throw new S3Error(
        400,
        "InvalidRequest",
        "Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.",
      );
    }
    const trailer = /x-amz-checksum-(\w+)/i.exec(String(headers["x-amz-trailer"] ?? ""))?.[1];
    const requested = headers["x-amz-sdk-checksum-algorithm"];
    this.fromTrailer = trailer !== undefined;
    this.algorithm =
      named[0] ??
      (trailer ? parseChecksumAlgorithm(trailer) : undefined) ??
      options.algorithm ??
      (typeof requested === "string" ? parseChecksumAlgorithm(requested) : undefined);
    this.expected = named[0] && requireChecksumShape(named[0], String(headers[checksumHeader(named[0])]));
    this.expectedMd5 = requireMd5(headers["content-md5"]);
    const sha256 = digest ?? String(headers["x-amz-content-sha256"] ?? "");
    this.expectedSha256 = /^[0-9a-f]{64}$/.test(sha256) ? sha256 : undefined;
    const wanted = this.expectedSha256 !== undefined || this.algorithm === "SHA256" || options.sha256;
    this.sha256 = wanted ? createHash("sha256") : undefined;
    this.hasher = this.algorithm && this.algorithm !== "SHA256" ? newHasher(this.algorithm) : undefined;
  }

  update(chunk: Uint8Array): void {
    this.md5.update(chunk);
    this.sha256?.update(chunk);
    this.hasher?.update(chunk);
  }

  finish(trailers: ReadonlyMap<string, string> | undefined): Omit<BodyDigest, "size"> {
    const sha256 = this.sha256?.digest();
    if (this.expectedSha256 !== undefined && sha256?.toString("hex") !== this.expectedSha256) {
      throw new S3Error(
        400,
        "XAmzContentSHA256Mismatch",
        "The provided 'x-amz-content-sha256' header does not match what was computed.",
      );
    }
    const md5 = this.md5.digest();
    if (this.expectedMd5 !== undefined && md5.toString("base64") !== this.expectedMd5) {
      throw new S3Error(400, "BadDigest", "The Content-MD5 you specified did not match what we received.");
    }
    const result = { md5: md5.toString("hex"), ...(sha256 ? { sha256: sha256.toString("hex") } : {}) };
    const digest = this.algorithm === "SHA256" ? sha256 : this.hasher?.digest();
    if (!this.algorithm || !digest) return result;
    const value = digest.toString("base64");
    const expected = this.expected ?? trailers?.get(checksumHeader(this.algorithm));
    if (this.fromTrailer && expected === undefined) {
      throw new S3Error(400, "MalformedTrailerError", "The request contained trailing data that was not well-formed.");
    }
    if (expected !== undefined && expected !== value) throw checksumMismatch(this.algorithm);
    return { ...result, checksum: { algorithm: this.algorithm, type: "FULL_OBJECT", value } };
  }
}

function requireMd5(value: string | readonly string[] | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (Buffer.from(String(value), "base64").length !== 16) {
    throw new S3Error(400, "InvalidDigest", "The Content-MD5 you specified is not valid.");
  }
  return String(value);
}
