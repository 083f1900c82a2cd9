export class DamagedStoreError extends Error {
  override readonly name = "DamagedStoreError";

  constructor(store: string, directory: string, detail: string) {
    super(
      `The data of ${store} in ${directory} are damaged: ${detail}. Restore a backup of the whole data directory, ` +
        "or start afresh in another one (--data DIRECTORY)",
    );
  }
}

export class DamagedRecordError extends Error {
  override readonly name = "DamagedRecordError";

  constructor(
    readonly store: string,
    readonly directory: string,
    readonly key: Buffer | string,
  ) {
    const shown = typeof key === "string" ? JSON.stringify(key) : `0x${key.toString("hex")}`;
    super(
      `The record ${shown} in ${directory} (${store}) fails its checksum. Stop the stack, then run \`ringmaster repair\``,
    );
  }
}
