import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DamagedStoreError } from "../../../local/storage/damage";
import { Database } from "../../../local/storage/database";
import { inspectDatabase } from "../../../local/storage/leveldb/inspect";
import { examine, type StoreLocation } from "../../../local/storage/seal";
import { temporaryFolder } from "../../support/temporary-folder";

const root = temporaryFolder("ringmaster-storage");

/** Creates a database with tables on disk, a log, deletions and replaced values. */
async function smallDatabase(directory: string): Promise<ReadonlyMap<string, string>> {
  const open = async () => {
    const database = new Database<string>({ directory, store: "small", writeBufferBytes: 64 * 1024 }, "utf8");
    await database.open();
    return database;
  };
  const first = await open();
  const expected = new Map<string, string>();
  for (let round = 0; round < 3; round++) {
    const writes = Array.from({ length: 20 }, (_, i) => ({
      key: `key-${i * (round + 1)}`,
      value: `${round} ${"abc".repeat(i)}`,
    }));
    await first.write([...writes, { key: `key-${round}`, value: undefined }]);
    for (const { key, value } of writes) expected.set(key, value);
    expected.delete(`key-${round}`);
  }
  await first.close();
  const second = await open();
  await second.write([{ key: "key-5", value: "in the log" }]);
  await second.write([{ key: "key-6", value: undefined }]);
  await second.close();
  expected.set("key-5", "in the log");
  expected.delete("key-6");
  return expected;
}

const filesOf = (directory: string) => readdirSync(directory).filter((name) => !/^LO(CK|G)/.test(name));
const write = (name: string, content: Uint8Array) => (directory: string) =>
  writeFileSync(join(directory, name), content);
const sorted = (rows: ReadonlyMap<string, string>) => [...rows].sort(([a], [b]) => (a < b ? -1 : 1));

describe("a damaged database", () => {
  const original = join(root, "original");
  const copy = join(root, "copy");
  let expected: ReadonlyMap<string, string>;
  /** Returns whether a file is a table that a compaction has replaced and not removed yet. */
  const obsolete = (name: string) =>
    name.endsWith(".ldb") && !inspectDatabase(original, () => undefined).files.includes(name);
  beforeAll(async () => {
    expected = await smallDatabase(original);
  });

  /** Whether `copy` equals `original`. Thousands of copies would take longer than everything else. */
  let pristine = false;
  /** Opens a copy. It must contain exactly the acknowledged data, or be refused. */
  async function outcome(
    damage: (directory: string) => void,
    repair?: (directory: string) => void,
  ): Promise<"refused" | "same" | "silent"> {
    if (!pristine) {
      rmSync(copy, { recursive: true, force: true });
      cpSync(original, copy, { recursive: true });
    }
    pristine = false;
    damage(copy);
    // Opening syncs files, which takes longer than reading them.
    if (examine({ directory: copy, store: "small" }).damages.length > 0) {
      repair?.(copy);
      pristine = repair !== undefined;
      return "refused";
    }
    try {
      const rows = await readStore({ directory: copy, store: "small" });
      return JSON.stringify(sorted(rows)) === JSON.stringify(sorted(expected)) ? "same" : "silent";
    } catch (error) {
      if (error instanceof DamagedStoreError) return "refused";
      throw error;
    }
  }

  it("contains the acknowledged data if it is undamaged", async () => {
    expect(
      filesOf(original)
        .map((name) => name.replace(/\d+/, "N"))
        .sort(),
    ).toEqual(["CURRENT", "MANIFEST-N", "N.ldb", "N.log", "small.seal"].sort());
    expect(await outcome(() => undefined)).toBe("same");
  });

  it("is refused after the flip of any byte, or has every record", async () => {
    for (const name of filesOf(original)) {
      const bytes = readFileSync(join(original, name));
      for (const at of offsetsIn(bytes).filter((offset) => !obsolete(name) || offset % 41 === 0)) {
        const damaged = Buffer.from(bytes);
        damaged[at]! ^= 1 << (at % 8);
        const result = await outcome(write(name, damaged), write(name, bytes));
        if (result === "silent") throw new Error(`${name}, byte ${at}`);
        if (!name.endsWith(".seal") && !obsolete(name)) expect([name, at, result]).toEqual([name, at, "refused"]);
      }
    }
  });

  it("is refused when a file is cut, or has every record", async () => {
    for (const name of filesOf(original)) {
      const bytes = readFileSync(join(original, name));
      for (const length of offsetsIn(bytes).filter((offset) => !obsolete(name) || offset % 41 === 0)) {
        const result = await outcome(write(name, bytes.subarray(0, length)), write(name, bytes));
        if (result === "silent") throw new Error(`${name}, cut to ${length} bytes`);
      }
    }
  });

  it("is refused when a live file is missing", async () => {
    for (const name of filesOf(original).filter((file) => !obsolete(file))) {
      expect([name, await outcome((directory) => rmSync(join(directory, name)))]).toEqual([name, "refused"]);
    }
  });

  it("is refused when all of its files are missing, but the seal is there", async () => {
    const names = filesOf(original).filter((name) => !name.endsWith(".seal"));
    const removeAll = (directory: string) => {
      for (const name of names) rmSync(join(directory, name));
    };
    expect(await outcome(removeAll)).toBe("refused");
  });

  it("is refused under another store's name", async () => {
    await expect(readStore({ directory: original, store: "other", seals: original })).rejects.toThrow(
      DamagedStoreError,
    );
    cpSync(join(original, "small.seal"), join(original, "other.seal"));
    await expect(readStore({ directory: original, store: "other", seals: original })).rejects.toThrow(
      "it belongs to the store small",
    );
    rmSync(join(original, "other.seal"));
  });

  it("is refused if its files are an older copy", async () => {
    const earlier = join(root, "earlier");
    const later = join(root, "later");
    cpSync(original, earlier, { recursive: true });
    cpSync(original, later, { recursive: true });
    const database = new Database<string>({ directory: later, store: "small" }, "utf8");
    await database.open();
    await database.write([{ key: "one more", value: "" }]);
    await database.close();
    cpSync(join(later, "small.seal"), join(earlier, "small.seal"));
    await expect(readStore({ directory: earlier, store: "small" })).rejects.toThrow(/changes were acknowledged/);
  });
});

/** Picks the offsets of a seal to damage. Its slots are mostly empty: all written bytes, and some of the others. */
function offsetsIn(bytes: Buffer): readonly number[] {
  return [...bytes.keys()].filter((at) => bytes.length < 4096 || (at % 4096 < 120 && at % 17 === 0) || at % 997 === 0);
}

/** Opens a store of text keys like its service, and returns all of its records. @throws DamagedStoreError */
async function readStore(location: StoreLocation): Promise<ReadonlyMap<string, string>> {
  const database = new Database<string>(location, "utf8");
  await database.open();
  try {
    return new Map(await database.entries({}));
  } finally {
    await database.close();
  }
}
