import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import type { ContentReference } from "../../core/shapes";

export const createBuffer = () => Buffer.allocUnsafe(1024 * 1024);

/**
 * Returns the digest and the size of a file.
 *
 * @param buffer may be shared by calls after each other: one for each takes longer than reading a small file
 */
export async function referenceOf(file: string, buffer = createBuffer()): Promise<ContentReference> {
  const hash = createHash("sha256");
  let bytes = 0;
  const handle = await open(file);
  try {
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, null);
      if (bytesRead === 0) return { sha256: hash.digest("hex"), bytes };
      hash.update(buffer.subarray(0, bytesRead));
      bytes += bytesRead;
    }
  } finally {
    await handle.close();
  }
}
