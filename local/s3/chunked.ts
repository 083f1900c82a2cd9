import type { ChunkVerifier } from "../sigv4/chunks";
import { S3Error } from "./errors";

/**
 * Decodes signed and unsigned `aws-chunked` bodies: `<hex size>[;chunk-signature=…]\r\n<bytes>\r\n` …, a chunk of size
 * 0, then trailing headers up to an empty line. The SDKs stream bodies in this form, with the checksum in a trailer.
 */
export class AwsChunkedDecoder {
  readonly trailers = new Map<string, string>();
  private state: "size" | "bytes" | "end-of-bytes" | "trailers" | "done" = "size";
  private left = 0;
  private line = "";
  private signature = "";
  private trailerLines = "";

  /** @param verifier verifies the chunks' signatures, if they are signed */
  constructor(private readonly verifier?: ChunkVerifier) {}

  get done(): boolean {
    return this.state === "done";
  }

  /** Yields the payload in the next bytes of the body, as views. */
  *push(input: Uint8Array): Generator<Uint8Array> {
    let at = 0;
    while (at < input.length && this.state !== "done") {
      if (this.state === "bytes") {
        const take = Math.min(this.left, input.length - at);
        const part = input.subarray(at, at + take);
        this.verifier?.update(part);
        yield part;
        at += take;
        this.left -= take;
        if (this.left === 0) this.state = "end-of-bytes";
      } else {
        const newline = input.indexOf(10, at);
        const end = newline < 0 ? input.length : newline;
        this.line += Buffer.from(input.buffer, input.byteOffset + at, end - at).toString("latin1");
        if (this.line.length > 8192) throw malformed("a chunk header is longer than 8192 bytes");
        at = end + 1;
        if (newline >= 0) {
          const line = this.line.replace(/\r$/, "");
          this.line = "";
          this.takeLine(line);
        }
      }
    }
  }

  private takeLine(line: string): void {
    if (this.state === "size") {
      const match = /^([0-9a-fA-F]{1,12})(?:;(?:chunk-signature=([0-9a-f]*))?.*)?$/.exec(line);
      if (!match) throw malformed(`${JSON.stringify(line.slice(0, 40))} is not a chunk's size`);
      this.left = Number.parseInt(match[1]!, 16);
      this.signature = match[2] ?? "";
      this.state = this.left === 0 ? "trailers" : "bytes";
      if (this.left === 0) this.endChunk();
    } else if (this.state === "end-of-bytes") {
      if (line !== "") throw malformed("a chunk's bytes are not followed by an empty line");
      this.state = "size";
      this.endChunk();
    } else if (line === "") this.endTrailers();
    else {
      const colon = line.indexOf(":");
      if (colon < 0) throw malformed(`${JSON.stringify(line.slice(0, 40))} is not a trailing header`);
      const name = line.slice(0, colon).trim().toLowerCase();
      const value = line.slice(colon + 1).trim();
      this.trailers.set(name, value);
      if (name !== trailerSignature) this.trailerLines += `${name}:${value}\n`;
    }
  }

  private endChunk(): void {
    if (this.verifier?.endChunk(this.signature) === false) throw mismatch("a chunk");
  }

  private endTrailers(): void {
    const signature = this.trailers.get(trailerSignature) ?? "";
    if (this.verifier?.signedTrailer && !this.verifier.endTrailer(this.trailerLines, signature))
      throw mismatch("the trailer");
    this.state = "done";
  }
}

const trailerSignature = "x-amz-trailer-signature";

const mismatch = (part: string) =>
  new S3Error(403, "SignatureDoesNotMatch", `The signature of ${part} of the aws-chunked body does not match.`);

const malformed = (detail: string) =>
  new S3Error(400, "InvalidRequest", `The aws-chunked body is malformed: ${detail}.`);
