/** One thing that is wrong with a store. */
export interface Damage {
  /** The store's name, as `dynamodb`. */
  readonly store: string;
  /** Path of the file. */
  readonly file: string;
  readonly offset?: number;
  readonly reason: string;
}

export function describeDamage({ file, offset, reason }: Damage): string {
  return `${file}${offset === undefined ? "" : `, byte ${offset}`}: ${reason}`;
}

/** A store's files are not what was written. It must not be opened: what is missing would look as if it never was. */
export class DamagedStoreError extends Error {
  override readonly name = "DamagedStoreError";

  constructor(readonly damages: readonly [Damage, ...Damage[]]) {
    const [first, ...more] = damages;
    const others = more.length === 0 ? "" : ` (and ${more.length} more)`;
    super(
      `The data of ${first.store} are damaged: ${describeDamage(first)}${others}. Nothing was changed. ` +
        "`ringmaster repair --list` shows which items are affected; `ringmaster repair --apply` keeps what is intact and moves the damaged files aside. Or restore a backup",
    );
  }
}

/** A stored record does not have the checksum that it was written with. */
export class DamagedRecordError extends Error {
  override readonly name = "DamagedRecordError";

  constructor(
    readonly store: string,
    readonly directory: string,
    readonly key: Buffer | string,
  ) {
    const shown = typeof key === "string" ? JSON.stringify(key) : `0x${key.toString("hex")}`;
    super(
      `The record ${shown} in ${directory} (${store}) fails its checksum. Stop the stack, then run \`ringmaster repair --list\``,
    );
  }
}
