/** A part of a remote file from an offset on. */
export interface RemotePart {
  readonly body: AsyncIterable<Uint8Array>;
  /** Identifies the content, so that a download is not continued with other content. */
  readonly tag: string | undefined;
  /** Size of the whole file in bytes. */
  readonly bytes: number | undefined;
}

export interface RemoteFile {
  /** Path below the source. */
  readonly name: string;
  /** Opens the content; with a tag only if it is still the same. */
  open(from: number, tag: string | undefined): Promise<RemotePart>;
}
