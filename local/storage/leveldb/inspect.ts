import { existsSync, readdirSync, readFileSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { FormatError } from "./byte-reader";
import { readLog } from "./log-file";
import { readManifest, type Version } from "./manifest";
import { readTable } from "./table";
import { type Entry, readDamagedBatch, readWriteBatch } from "./write-batch";

export interface FileFault {
  readonly file: string;
  readonly offset?: number;
  readonly reason: string;
  /** The user keys on both sides of unreadable entries. */
  readonly between?: readonly [Buffer | undefined, Buffer];
  /** The entries that can be read partly. None of them is trustworthy. */
  readonly doubtful?: readonly Entry[];
}

export interface Inspection {
  readonly faults: readonly FileFault[];
  /** The sequence number of the last change. */
  readonly lastSequence: number;
  /**
   * An incomplete record at the end of the last log, which a kill may leave. It is a fault if the record was
   * acknowledged.
   */
  readonly torn?: FileFault;
  /** A manifest that ends within an edit, and the start of that edit. LevelDB does not open such a manifest. */
  readonly cut?: { readonly file: string; readonly end: number };
  /** The names of the live files. */
  readonly files: readonly string[];
}

/**
 * Reads every live file of a LevelDB database that no process has open, and verifies every byte. LevelDB itself skips
 * damaged blocks and records by default, and opens with the rest.
 *
 * A killed process may leave an incomplete record at the end of the last log, and files that are not live. Neither is a
 * fault.
 *
 * @param visit called with every intact entry, including old versions and deletions
 */
export function inspectDatabase(directory: string, visit: (entry: Entry) => void): Inspection {
  const faults: FileFault[] = [];
  const names = readdirSync(directory);
  const version = inspectManifest(directory, faults);
  if (!version || faults.length > 0) return { faults, ...scavenge(directory, names, visit) };

  const files: string[] = [];
  for (const meta of version.tables.values()) {
    const stem = String(meta.number).padStart(6, "0");
    const file = [`${stem}.ldb`, `${stem}.sst`].find((name) => names.includes(name));
    if (!file) faults.push({ file: `${stem}.ldb`, reason: "it is missing", ...rangeOf(meta) });
    else {
      files.push(file);
      for (const { between, ...fault } of readTable(readFileSync(join(directory, file)), meta, visit)) {
        faults.push({ file, ...fault, ...(between ? { between } : rangeOf(meta)) });
      }
    }
  }

  const logs = logsOf(names, version.logNumber);
  const ends = inspectLogs(directory, logs, version, faults, visit);
  const cut = version.end === undefined ? {} : { cut: { file: version.file, end: version.end } };
  return { faults, ...ends, ...cut, files: [...files, ...logs.map(({ file }) => file)] };
}

interface Manifest {
  readonly file: string;
  /** The end of the last complete edit, if more bytes follow. */
  readonly end?: number;
}

/** Reads the manifest that CURRENT names. */
function inspectManifest(directory: string, faults: FileFault[]): (Version & Manifest) | undefined {
  const current = join(directory, "CURRENT");
  if (!existsSync(current)) {
    faults.push({ file: "CURRENT", reason: "it is missing" });
    return undefined;
  }
  const text = readFileSync(current, "latin1");
  const file = /^(MANIFEST-\d{6,})\n$/.exec(text)?.[1];
  if (file === undefined) {
    faults.push({ file: "CURRENT", reason: "it does not name a manifest" });
    return undefined;
  }
  if (!existsSync(join(directory, file))) {
    faults.push({ file, reason: "it is missing" });
    return undefined;
  }
  const { records, fault } = readLog(readFileSync(join(directory, file)));
  if (fault && fault.after.length > 0) faults.push({ file, offset: fault.offset, reason: fault.reason });
  try {
    // An incomplete edit was never in force. If it was, files are missing that the earlier edits name.
    return { ...readManifest(records), file, ...(fault && { end: fault.offset }) };
  } catch (error) {
    faults.push({ file, reason: reasonOf(error) });
    return undefined;
  }
}

interface LogName {
  readonly file: string;
  readonly number: number;
}

/** Returns the logs that LevelDB replays, in order. */
function logsOf(names: readonly string[], from: number): readonly LogName[] {
  return names
    .filter((name) => /^\d{6,}\.log$/.test(name))
    .map((file) => ({ file, number: Number.parseInt(file, 10) }))
    .filter(({ number }) => number >= from)
    .sort((a, b) => a.number - b.number);
}

/**
 * Reads the logs and checks their sequence numbers. Each change has the next number, so they show that a log is
 * missing, belongs to another database, or ends too early.
 */
function inspectLogs(
  directory: string,
  logs: readonly LogName[],
  version: Version,
  faults: FileFault[],
  visit: (entry: Entry) => void,
): Pick<Inspection, "lastSequence" | "torn"> {
  let torn: FileFault | undefined;
  let after = 0;
  if (version.logNumber > 0 && logs[0]?.number !== version.logNumber) {
    const file = `${String(version.logNumber).padStart(6, "0")}.log`;
    faults.push({ file, reason: "it is missing" });
  }
  let expected: number | undefined;
  for (const [i, { file }] of logs.entries()) {
    const { records, fault } = readLog(readFileSync(join(directory, file)));
    // A log is created before the manifest names it. A process that stopped in between has left an empty one.
    const isLast = logs.slice(i + 1).every((later) => statSync(join(directory, later.file)).size === 0);
    if (fault) {
      const doubtful = [fault.data, ...fault.after.map(({ data }) => data)].flatMap((data) => readDamagedBatch(data));
      const found: FileFault = { file, offset: fault.offset, reason: fault.reason, doubtful };
      const readable = fault.after.flatMap(({ data }) => readDamagedBatch(data)).at(-1);
      after = Math.max(after, readable?.sequence ?? 0);
      if (fault.after.length > 0 || !isLast) faults.push(found);
      else torn = found;
    }
    for (const { offset, data } of records) {
      try {
        const { sequence, entries } = readWriteBatch(data);
        const fits = expected === undefined ? sequence <= version.lastSequence + 1 : sequence === expected;
        if (!fits) {
          const reason = `a record has sequence number ${sequence} instead of ${expected ?? version.lastSequence + 1}`;
          faults.push({ file, offset, reason });
        }
        expected = sequence + entries.length;
        for (const entry of entries) visit(entry);
      } catch (error) {
        faults.push({ file, offset, reason: reasonOf(error) });
      }
    }
  }
  const end = expected === undefined ? version.lastSequence : expected - 1;
  if (Math.max(end, after) < version.lastSequence) {
    const file = logs.at(-1)?.file ?? "log";
    faults.push({ file, reason: `it ends at sequence number ${end}, but ${version.lastSequence} was written` });
  }
  return { lastSequence: Math.max(end, after, version.lastSequence), ...(torn && { torn }) };
}

/** Removes the records after a sequence number, and an incomplete last record, from the logs of a closed database. */
export function cutLogs(directory: string, end: number): void {
  for (const { file } of logsOf(readdirSync(directory), 0)) {
    const { records, fault } = readLog(readFileSync(join(directory, file)));
    const later = records.find(({ data }) => readWriteBatch(data).sequence > end);
    const offset = later?.offset ?? (fault?.after.length === 0 ? fault.offset : undefined);
    if (offset !== undefined) truncateSync(join(directory, file), offset);
  }
}

/** Visits the entries of all tables and logs. Without a manifest the live files are unknown. */
function scavenge(
  directory: string,
  names: readonly string[],
  visit: (entry: Entry) => void,
): Pick<Inspection, "lastSequence" | "files"> {
  let lastSequence = 0;
  const visitAll = (entry: Entry): void => {
    lastSequence = Math.max(lastSequence, entry.sequence);
    visit(entry);
  };
  const files = names.filter((name) => /^\d{6,}\.(ldb|sst|log)$/.test(name));
  for (const file of files) {
    const bytes = readFileSync(join(directory, file));
    if (!file.endsWith(".log")) readTable(bytes, { size: bytes.length }, visitAll);
    else for (const { data } of readLog(bytes).records) for (const entry of readDamagedBatch(data)) visitAll(entry);
  }
  return { lastSequence, files };
}

function rangeOf({ smallest, largest }: { readonly smallest: Buffer; readonly largest: Buffer }) {
  const user = (key: Buffer) => key.subarray(0, Math.max(0, key.length - 8));
  return { between: [user(smallest), user(largest)] as const };
}

function reasonOf(error: unknown): string {
  if (error instanceof FormatError) return error.message;
  throw error;
}
