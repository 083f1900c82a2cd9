import type { ContentReference } from "../ports";

/** A file on the client's disk, or bytes in its memory. */
export type UploadSource = { readonly path: string } | { readonly bytes: Uint8Array };

/** How a client's content gets into the content store: what is there already is never sent. */
export interface UploadPort {
  /** Digests of those that the store lacks. */
  missing(references: readonly ContentReference[]): Promise<readonly string[]>;
  put(reference: ContentReference, source: UploadSource): Promise<void>;
}
