import type { PutObjectCommand, UploadPartCommand } from "@aws-sdk/client-s3";

/**
 * Sets the payload's SHA-256 in hex for Signature Version 4, or `UNSIGNED-PAYLOAD` for a payload with its own checksum.
 * Otherwise the client computes the SHA-256 again over all bytes.
 */
export function setPayloadHash(command: PutObjectCommand | UploadPartCommand, hash: string): void {
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
