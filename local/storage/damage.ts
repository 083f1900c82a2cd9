/** One defect of a store. */
export interface Damage {
  /** The name of the store, e.g. `dynamodb`. */
  readonly store: string;
  /** The path of the file. */
  readonly file: string;
  readonly offset?: number;
  readonly reason: string;
}

export function describeDamage({ file, offset, reason }: Damage): string {
  return `${file}${offset === undefined ? "" : `, byte ${offset}`}: ${reason}`;
}

/**
 * The files of a store are not what was written. The store must not be opened, because missing data would look as if
 * they had never existed.
 */
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

/** A stored record does not match its checksum. */
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
