import type { ApiClient } from "../client/api-client";
import { sha256 } from "../core/digest";
import { RingmasterError } from "../core/errors";

/** A content of the store, its digest checked. */
export async function download(client: ApiClient, digest: string): Promise<Uint8Array> {
  const response = await fetch(await client.contentUrl(digest));
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (response.ok && sha256(bytes) === digest) return bytes;
  throw new RingmasterError(
    `content ${digest} cannot be read as it was stored: status ${response.status}, ${bytes.length} bytes`,
    {
      code: "CORRUPT_CONTENT",
      httpStatus: 502,
    },
  );
}
