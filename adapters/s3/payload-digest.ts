import type { PutObjectCommand, UploadPartCommand } from "@aws-sdk/client-s3";

/** Sets the payload's SHA-256 for Signature Version 4. Otherwise the client computes it again over all bytes. */
export function knowPayloadDigest(command: PutObjectCommand | UploadPartCommand, digest: Buffer): void {
  setPayloadHash(command, digest.toString("hex"));
}

/** Leaves a payload unsigned that has its own checksum. The signature then covers only the rest of the request. */
export function leavePayloadUnsigned(command: UploadPartCommand): void {
  setPayloadHash(command, "UNSIGNED-PAYLOAD");
}

function setPayloadHash(command: PutObjectCommand | UploadPartCommand, hash: string): void {
  // Both commands accept this middleware, but the overloads of their union do not.
  (command as PutObjectCommand).middlewareStack.add(
    (next) => (args) => {
      const { headers } = args.request as { readonly headers: Record<string, string> };
      headers["x-amz-content-sha256"] = hash;
      return next(args);
    },
    { step: "build", name: "setPayloadHash" },
  );
}
