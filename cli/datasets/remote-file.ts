export interface RemotePart {
  readonly body: AsyncIterable<Uint8Array>;
  /** Identifies the content, so that a download is not continued with other content. */
  readonly tag: string | undefined;
  readonly bytes: number | undefined;
}

export interface RemoteFile {
  readonly name: string;
  /** Opens the content; with a tag only if it is still the same. */
  open(from: number, tag: string | undefined): Promise<RemotePart>;
}
