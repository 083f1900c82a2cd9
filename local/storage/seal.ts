import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { type Damage, DamagedStoreError } from "./damage";
import { cutLogs, type FileFault, type Inspection, inspectDatabase } from "./leveldb/inspect";
import type { Entry } from "./leveldb/write-batch";
import { looksSealed, ValueSeal } from "./sealed-value";
import { SlotFile } from "./slot-file";

/**
 * Facts about a database, stored outside of it. They show that a file is lost, out of date or from another database.
 */
export interface Seal {
  readonly store: string;
  /** The id of the database, which is part of each value's checksum. */
  readonly database: string;
  /**
   * The state. `new`: nothing was acknowledged. `migrating`: values of a release without checksums are being sealed.
   */
  readonly state: "new" | "migrating" | "ready";
  /** The sequence number of the first sealed change. */
  readonly sealedFrom: number;
  /** The sequence number of the last acknowledged change. */
  readonly acknowledged: number;
}

export interface StoreLocation {
  /** The database's own directory. */
  readonly directory: string;
  /** The name of the store, e.g. `dynamodb`. A directory of another store is refused. */
  readonly store: string;
  /**
   * The directory of the seal. The default is the database's directory. A seal elsewhere survives the loss of that
   * directory.
   */
  readonly seals?: string | undefined;
}

export interface Examined {
  readonly damages: readonly Damage[];
  readonly seal: Seal | undefined;
  readonly lastSequence: number;
  readonly faults: readonly FileFault[];
  readonly torn?: Inspection["torn"] | undefined;
  readonly cut?: Inspection["cut"] | undefined;
}

export function sealPath({ directory, store, seals = directory }: StoreLocation): string {
  return join(seals, `${store}.seal`);
}

/**
 * Compares a database with its seal and reads all of its files. No process may have it open.
 *
 * @param visit called with every intact entry, including old versions and deletions
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
  const { lastSequence, torn, cut } = inspection;
  return { damages, seal, lastSequence, faults, torn, cut };
}

/**
 * Opens the seal of an intact database. Creates the seal of a new database, or of one from a release without seals.
 *
 * @param end removes the log's records after this sequence number, which belong to a failed write
 */
export function openSeal(
  location: StoreLocation,
  end?: number,
): { readonly file: SlotFile<Seal>; readonly lastSequence: number } {
  if (end !== undefined) cutLogs(location.directory, end);
  const { damages, seal, lastSequence, torn, cut } = examine(location);
  const [first, ...more] = damages;
  if (first) throw new DamagedStoreError([first, ...more]);
  if (cut) truncateSync(join(location.directory, cut.file), cut.end);
  // LevelDB continues with a new log, in which an incomplete record would be damage.
  if (torn?.offset !== undefined) truncateSync(join(location.directory, torn.file), torn.offset);
  const path = sealPath(location);
  // LevelDB creates a database if CURRENT is missing, and fails if CURRENT names an incomplete manifest.
  if (seal?.state === "new" && holdsNothing(location.directory))
    rmSync(currentPath(location.directory), { force: true });
  if (seal) return { file: SlotFile.open<Seal>(path) as SlotFile<Seal>, lastSequence };
  const state = hasDatabase(location.directory) ? "migrating" : "new";
  const made = newSeal(location.store, state, lastSequence);
  return { file: SlotFile.create(path, made), lastSequence };
}

function newSeal(store: string, state: Seal["state"], lastSequence: number): Seal {
  const sealedFrom = lastSequence + 1;
  return { store, database: randomUUID(), state, sealedFrom, acknowledged: lastSequence };
}

function isIntact({ key, value, sequence }: Entry, seal: Seal | undefined, values: ValueSeal | undefined): boolean {
  if (!value) return true;
  if (!seal || !values) return !looksSealed(value);
  // Until a migration is complete, and for entries that it has replaced, any text may be a value.
  const mayBeOld = seal.state !== "ready" || sequence < seal.sealedFrom;
  return mayBeOld || values.isIntact(key, value);
}

const currentPath = (directory: string): string => join(directory, "CURRENT");

/** Returns whether a database is at most partly created. A power loss may leave its CURRENT without a manifest. */
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
