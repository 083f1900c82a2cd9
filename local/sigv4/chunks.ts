import { createHash, type Hash, hash, timingSafeEqual } from "node:crypto";
import type { SignatureClaim } from "./claim";
import { hmac } from "./verify";

const emptyDigest = hash("sha256", "", "hex");

/**
 * Verifies the signatures of an `aws-chunked` body. Each covers its chunk and the previous signature. The first one
 * follows the signature of the request (docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html).
 */
export class ChunkVerifier {
  private readonly prefix: string;
  private previous: string;
  private hash: Hash = createHash("sha256");

  constructor(
    { scope, time, signature }: SignatureClaim,
    private readonly key: Uint8Array,
    readonly signedTrailer: boolean,
  ) {
    this.prefix = `${time}\n${scope.join("/")}`;
    this.previous = signature;
  }

  update(bytes: Uint8Array): void {
    this.hash.update(bytes);
  }

  endChunk(signature: string): boolean {
    const digest = this.hash.digest("hex");
    this.hash = createHash("sha256");
    return this.take(
      `AWS4-HMAC-SHA256-PAYLOAD\n${this.prefix}\n${this.previous}\n${emptyDigest}\n${digest}`,
      signature,
    );
  }

  /**
   * Verifies the trailing headers.
   * @param lines `name:value\n` of each trailing header except the signature
   */
  endTrailer(lines: string, signature: string): boolean {
    return this.take(
      `AWS4-HMAC-SHA256-TRAILER\n${this.prefix}\n${this.previous}\n${hash("sha256", lines, "hex")}`,
      signature,
    );
  }

  private take(toSign: string, signature: string): boolean {
    if (!/^[0-9a-f]{64}$/.test(signature)) return false;
    this.previous = signature;
    return timingSafeEqual(hmac(this.key, toSign), Buffer.from(signature, "hex"));
  }
}
