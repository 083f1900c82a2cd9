import { mkdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { dynamoDbKeyNames, mendDynamoDb, rebuildDynamoDb } from "./dynamodb/repair";
import { describeStatesKey, mendStates } from "./states/repair";
import { type Damage, describeDamage } from "./storage/damage";
import { examineJournal, Journal, type JournalLocation } from "./storage/journal";
import { finishRebuild, rebuild } from "./storage/rebuild";
import { type Fate, type Salvage, salvage } from "./storage/salvage";
import { journalsOf, storesOf } from "./storage/stores";

/** The damage of one store, and the fate of its records. */
export interface StoreReport {
  readonly store: string;
  readonly damages: readonly string[];
  /** The names of the records that are lost, or of which only an older version is left. */
  readonly items: readonly { readonly item: string; readonly state: string }[];
  /** The changes that make the remaining records consistent. */
  readonly changes: readonly string[];
}

const states: Readonly<Record<Fate, string>> = {
  lost: "lost",
  older: "uncertain: an older version is left",
  deletion: "uncertain: it is deleted, which may be wrong",
};

/** The repair of a store whose keys and records are known. */
interface StoreRepair {
  /** Returns a function that names a key's record for a person, or returns undefined for a key that no user knows. */
  names(rows: ReadonlyMap<string, string>): (key: Buffer) => string | undefined;
  /** Makes the rows consistent where records of the affected keys are lost. Returns the changes as sentences. */
  mend(rows: Map<string, string>, affected: Iterable<string>): readonly string[];
  /** Derives the remaining records of the rebuilt store in `directory`. */
  complete?(directory: string): Promise<void>;
}

const anyStore: StoreRepair = { names: () => (key) => `record ${key.toString()}`, mend: () => [] };
const knownStores: Readonly<Record<string, StoreRepair>> = {
  dynamodb: { names: dynamoDbKeyNames, mend: mendDynamoDb, complete: rebuildDynamoDb },
  states: {
    names: () => (key) => describeStatesKey(key.toString()),
    mend: (rows, affected) => mendStates(rows, affected, Date.now()),
  },
};

/** Reports every damaged store of a data directory without changing anything. No stack may run over the directory. */
export function listDamage(data: string): readonly StoreReport[] {
  const stores = storesOf(data).flatMap((location) => {
    const left = salvage(location);
    return left.damages.length === 0 ? [] : [reportOf(location.store, left, mendRows(location.store, left))];
  });
  const journals = journalsOf(data).flatMap((location) => {
    const { damages } = examineJournal(location);
    return damages.length === 0 ? [] : [journalReport(location, damages)];
  });
  return [...stores, ...journals];
}

/**
 * Replaces each damaged store by a store with all of its intact records, and moves the damaged files to `aside`. An
 * interrupted repair can be run again.
 */
export async function applyRepair(data: string, aside: string): Promise<readonly StoreReport[]> {
  const reports: StoreReport[] = [];
  for (const location of storesOf(data)) {
    const finished = finishRebuild(location);
    const left = salvage(location);
    if (left.damages.length === 0) {
      if (finished) reports.push({ ...empty(location.store), changes: ["an earlier repair is completed"] });
      continue;
    }
    const changes = mendRows(location.store, left);
    await rebuild(location, left.rows, { data, aside }, knownStores[location.store]?.complete);
    reports.push(reportOf(location.store, left, changes));
  }
  for (const location of journalsOf(data)) {
    const { damages, lines } = examineJournal(location);
    if (damages.length === 0) continue;
    rebuildJournal(
      location,
      lines.map(({ item }) => item),
      { data, aside },
    );
    reports.push(journalReport(location, damages));
  }
  return reports;
}

function mendRows(store: string, { rows, affected }: Salvage): readonly string[] {
  return (knownStores[store] ?? anyStore).mend(rows, affected.keys());
}

function reportOf(store: string, left: Salvage, changes: readonly string[]): StoreReport {
  const name = (knownStores[store] ?? anyStore).names(left.rows);
  const items = [...left.affected].flatMap(([key, fate]) => {
    const item = name(Buffer.from(key, "latin1"));
    return item === undefined ? [] : [{ item, state: states[fate] }];
  });
  const ranges = left.ranges.map(([after, last]) => ({
    item: `what was between ${(after && name(after)) ?? "the beginning"} and ${name(last) ?? "the end"}`,
    state: "lost, or an older version is left",
  }));
  const missing = `the last ${left.missingChanges} acknowledged changes, of which nothing is left`;
  const changed = left.missingChanges > 0 ? [{ item: missing, state: "lost" }] : [];
  return { store, damages: left.damages.map(describeDamage), items: [...items, ...ranges, ...changed], changes };
}

function journalReport({ path }: JournalLocation, damages: readonly Damage[]): StoreReport {
  const store = basename(path);
  const items = damages.flatMap(({ reason }) => {
    const number = /^entry (\d+)/.exec(reason)?.[1];
    return number === undefined ? [] : [{ item: `event ${number}, which was not delivered yet`, state: "lost" }];
  });
  return { store, damages: damages.map(describeDamage), items, changes: [] };
}

function rebuildJournal(
  location: JournalLocation,
  items: readonly unknown[],
  { data, aside }: { readonly data: string; readonly aside: string },
): void {
  const { path, seals = dirname(path) } = location;
  // A journal contains the name of its file, so the new one has the same name in another folder.
  const folder = `${path}.repairing`;
  const unfinished = join(folder, basename(path));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const journal = new Journal({ path: unfinished });
  journal.append(items);
  journal.close();
  const move = (from: string, to: string) => {
    mkdirSync(dirname(to), { recursive: true });
    try {
      renameSync(from, to);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  };
  const seal = join(seals, `${basename(path)}.seal`);
  move(path, join(aside, relative(data, path)));
  move(unfinished, path);
  move(seal, join(aside, "seals", basename(seal)));
  move(`${unfinished}.seal`, seal);
  rmSync(folder, { recursive: true });
}

function empty(store: string): StoreReport {
  return { store, damages: [], items: [], changes: [] };
}
