import type { Damage } from "./damage";
import type { Entry } from "./leveldb/write-batch";
import { examine, type StoreLocation } from "./seal";
import { unsealed, ValueSeal } from "./sealed-value";

/**
 * The fate of a record. `older`: only an earlier version is left. `deletion`: it is unknown whether the record was
 * deleted.
 */
export type Fate = "lost" | "older" | "deletion";

/** The remains of a damaged database. */
export interface Salvage {
  readonly damages: readonly Damage[];
  /** The newest intact version of each record, by key (as latin1). */
  readonly rows: Map<string, string>;
  readonly affected: ReadonlyMap<string, Fate>;
  /** The ranges of keys with lost records whose keys are unknown. */
  readonly ranges: readonly (readonly [Buffer | undefined, Buffer])[];
  /** The number of acknowledged changes that are missing at the end. The records that they changed are unknown. */
  readonly missingChanges: number;
}

interface Version {
  readonly sequence: number;
  readonly value: string | undefined;
}

/** Reads all intact records of a database without changing it. No process may have it open. */
export function salvage(location: StoreLocation): Salvage {
  const newest = new Map<string, Version>();
  const keep = ({ key, sequence, value }: Entry): void => {
    const name = key.toString("latin1");
    if ((newest.get(name)?.sequence ?? -1) <= sequence) {
      newest.set(name, { sequence, value: value && unsealed(value) });
    }
  };
  const { damages, seal, faults, lastSequence } = examine(location, keep);
  const values = seal && new ValueSeal(seal.database);

  const affected = new Map<string, Fate>();
  for (const entry of faults.flatMap(({ doubtful = [] }) => doubtful)) {
    const name = entry.key.toString("latin1");
    if (entry.value && values?.isIntact(entry.key, entry.value)) keep(entry);
    else if ((newest.get(name)?.sequence ?? -1) < entry.sequence) {
      // A deletion has no checksum of its own. It is applied and reported.
      if (!entry.value) keep(entry);
      affected.set(name, entry.value ? "lost" : "deletion");
    }
  }
  const rows = new Map([...newest].flatMap(([name, { value }]) => (value === undefined ? [] : [[name, value]])));
  for (const [name, fate] of affected) if (fate === "lost" && rows.has(name)) affected.set(name, "older");
  const ranges = faults.flatMap(({ between, doubtful = [] }) => (between && doubtful.length === 0 ? [between] : []));
  const acknowledged = seal?.acknowledged ?? 0;
  const doubtful = faults.flatMap(({ doubtful: entries = [] }) => entries.map(({ sequence }) => sequence));
  const seen = Math.max(lastSequence, ...doubtful.filter((sequence) => sequence <= acknowledged));
  return { damages, rows, affected, ranges, missingChanges: Math.max(0, acknowledged - seen) };
}
