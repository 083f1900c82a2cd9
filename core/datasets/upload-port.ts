import type { ContentReference } from "../ports";

/** A file on the client's disk, or bytes in its memory. */
export type UploadSource = { readonly path: string } | { readonly bytes: Uint8Array };

/** The port to the content store for a client's uploads. Content that the store has is never sent. */
export interface UploadPort {
  /** Returns the digests of content that the store lacks. */
  missing(references: readonly ContentReference[]): Promise<readonly string[]>;
  put(reference: ContentReference, source: UploadSource): Promise<void>;
}
