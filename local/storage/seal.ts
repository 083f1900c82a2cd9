import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { type Damage, DamagedStoreError } from "./damage";
import { type FileFault, type Inspection, inspectDatabase } from "./leveldb/inspect";
import type { Entry } from "./leveldb/write-batch";
import { looksSealed, ValueSeal } from "./sealed-value";
import { SlotFile } from "./slot-file";

/** Facts about a database, kept outside of it: they show that a file is lost, older, or another database's. */
export interface Seal {
  readonly store: string;
  /** Part of each value's checksum. */
  readonly database: string;
  /** `new`: nothing was acknowledged. `migrating`: values of a version without checksums are being sealed. */
  readonly state: "new" | "migrating" | "ready";
  /** Sequence number of the first sealed change. */
  readonly sealedFrom: number;
  /** Sequence number of the last change that was acknowledged. */
  readonly acknowledged: number;
}

export interface StoreLocation {
  /** The database's own directory. */
  readonly directory: string;
  /** Name of the store, as `dynamodb`: a directory of another store is refused. */
  readonly store: string;
  /** Where the seal lies; next to the database's files by default. Elsewhere it survives the loss of the whole directory. */
  readonly seals?: string | undefined;
}

export interface Examined {
  readonly damages: readonly Damage[];
  readonly seal: Seal | undefined;
  readonly lastSequence: number;
  readonly faults: readonly FileFault[];
  readonly cut?: Inspection["cut"] | undefined;
}

export function sealPath({ directory, store, seals = directory }: StoreLocation): string {
  return join(seals, `${store}.seal`);
}

/**
 * Compares a database with its seal and reads all of its files; no process may have it open.
 *
 * @param visit gets every intact entry, old versions and deletions included.
 */
export function examine(location: StoreLocation, visit: (entry: Entry) => void = () => undefined): Examined {
  const { directory, store } = location;
  const damages: Damage[] = [];
  const damage = (file: string, reason: string, offset?: number): void => {
    damages.push({ store, file, reason, ...(offset === undefined ? {} : { offset }) });
  };
  const path = sealPath(location);
  const read = SlotFile.read<Seal>(path);
  const seal = read === "damaged" ? undefined : read;
  if (read === "damaged") damage(path, "it fails its checksum");
  if (seal && seal.store !== store) damage(path, `it belongs to the store ${seal.store}`);

  const there = hasDatabase(directory);
  if (!there || (seal?.state === "new" && holdsNothing(directory))) {
    if (seal && seal.state !== "new") damage(directory, "the database is missing");
    return { damages, seal, lastSequence: 0, faults: [] };
  }

  const values = seal && new ValueSeal(seal.database);
  const faults: FileFault[] = [];
  let orphan = false;
  const inspection = inspectDatabase(directory, (entry) => {
    if (entry.value && !isIntact(entry, seal, values)) {
      if (seal) faults.push({ file: directory, reason: "a record fails its checksum", doubtful: [entry] });
      else orphan = true;
      if (seal) return;
    }
    visit(entry);
  });
  faults.unshift(...inspection.faults);
  for (const { file, reason, offset } of faults)
    damage(file === directory ? file : join(directory, file), reason, offset);
  if (read === undefined && orphan) damage(path, "it is missing");
  if (seal && inspection.lastSequence < seal.acknowledged) {
    const { torn } = inspection;
    if (torn) {
      faults.push(torn);
      damage(join(directory, torn.file), torn.reason, torn.offset);
    }
    const reason = `it ends at change ${inspection.lastSequence}, but ${seal.acknowledged} changes were acknowledged`;
    damage(directory, reason);
  }
  return { damages, seal, lastSequence: inspection.lastSequence, faults, cut: inspection.cut };
}

/** Opens the seal of a database that is intact; makes one where the database is new, or of a version without seals. */
export function openSeal(location: StoreLocation): { readonly file: SlotFile<Seal>; readonly lastSequence: number } {
  const { damages, seal, lastSequence, cut } = examine(location);
  const [first, ...more] = damages;
  if (first) throw new DamagedStoreError([first, ...more]);
  if (cut) truncateSync(join(location.directory, cut.file), cut.end);
  const path = sealPath(location);
  // LevelDB creates a database whose CURRENT is missing, and fails where CURRENT names an incomplete manifest.
  if (seal?.state === "new" && holdsNothing(location.directory))
    rmSync(currentPath(location.directory), { force: true });
  if (seal) return { file: SlotFile.open<Seal>(path) as SlotFile<Seal>, lastSequence };
  const state = hasDatabase(location.directory) ? "migrating" : "new";
  const made = newSeal(location.store, state, lastSequence);
  return { file: SlotFile.create(path, made), lastSequence };
}

export function newSeal(store: string, state: Seal["state"], lastSequence: number): Seal {
  const sealedFrom = lastSequence + 1;
  return { store, database: randomUUID(), state, sealedFrom, acknowledged: lastSequence };
}

function isIntact({ key, value, sequence }: Entry, seal: Seal | undefined, values: ValueSeal | undefined): boolean {
  if (!value) return true;
  if (!seal || !values) return !looksSealed(value);
  // Before a migration is over, and in what it has replaced, any text may be a value.
  const mayBeOld = seal.state !== "ready" || sequence < seal.sealedFrom;
  return mayBeOld || values.isIntact(key, value);
}

const currentPath = (directory: string): string => join(directory, "CURRENT");

/** Whether a database is at most half created: a power loss may leave its CURRENT without its manifest. */
function holdsNothing(directory: string): boolean {
  if (!existsSync(currentPath(directory))) return true;
  const content = readdirSync(directory).filter((name) => /^\d+\.(ldb|sst|log)$/.test(name));
  return content.every((name) => statSync(join(directory, name)).size === 0);
}

export function hasDatabase(directory: string): boolean {
  return (
    existsSync(directory) &&
    readdirSync(directory).some((name) => /^(CURRENT|MANIFEST-\d+|\d+\.(ldb|sst|log))$/.test(name))
  );
}
