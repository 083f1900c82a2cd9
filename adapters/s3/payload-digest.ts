import type { PutObjectCommand, UploadPartCommand } from "@aws-sdk/client-s3";

/** Signature Version 4 signs the payload's SHA-256: a client that is not told it computes it once more over all bytes. */
export function knowPayloadDigest(command: PutObjectCommand | UploadPartCommand, digest: Buffer): void {
  setPayloadHash(command, digest.toString("hex"));
}

/** For a payload that is guarded otherwise, by a checksum of its own: the signature is of the rest of the request alone. */
export function leavePayloadUnsigned(command: UploadPartCommand): void {
  setPayloadHash(command, "UNSIGNED-PAYLOAD");
}

function setPayloadHash(command: PutObjectCommand | UploadPartCommand, hash: string): void {
  // Both stacks take this middleware; their union's overloads do not.
  (command as PutObjectCommand).middlewareStack.add(
    (next) => (args) => {
      const { headers } = args.request as { readonly headers: Record<string, string> };
      headers["x-amz-content-sha256"] = hash;
      return next(args);
    },
    { step: "build", name: "setPayloadHash" },
  );
}
