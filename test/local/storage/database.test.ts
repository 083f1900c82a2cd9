import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ClassicLevel } from "classic-level";
import { DamagedRecordError, DamagedStoreError } from "../../../local/storage/damage";
import { Database } from "../../../local/storage/database";
import { examine } from "../../../local/storage/seal";
import { SlotFile } from "../../../local/storage/slot-file";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "ringmaster-database-"));
});
afterEach(() => {
  jest.restoreAllMocks();
  rmSync(directory, { recursive: true, force: true });
});

const location = () => ({ directory, store: "test" });
const write = async (rows: Readonly<Record<string, string>>): Promise<void> => {
  const database = await open();
  await database.write(Object.entries(rows).map(([key, value]) => ({ key, value })));
  await database.close();
};
async function open(): Promise<Database<string>> {
  const database = new Database<string>(location(), "utf8");
  await database.open();
  return database;
}
async function all(): Promise<Record<string, string>> {
  const database = await open();
  const rows = Object.fromEntries(await database.entries({}));
  await database.close();
  return rows;
}
/** Writes a database like releases without checksums. */
async function legacy(rows: Readonly<Record<string, string>>): Promise<void> {
  const level = new ClassicLevel<string, string>(directory);
  await level.batch(Object.entries(rows).map(([key, value]) => ({ type: "put", key, value })));
  await level.close();
}

describe("a store that a power loss interrupted", () => {
  it("is created again if its manifest was not written and nothing was acknowledged", async () => {
    const seal = { store: "test", database: "new", state: "new", sealedFrom: 1, acknowledged: 0 };
    SlotFile.create(join(directory, "test.seal"), seal).close();
    writeFileSync(join(directory, "CURRENT"), "MANIFEST-000001\n");
    writeFileSync(join(directory, "MANIFEST-000001"), "");
    await write({ key: "value" });
    expect(await all()).toEqual({ key: "value" });
  });

  it("is refused if its log contains changes", async () => {
    await write({ key: "value" });
    const seal = { store: "test", database: "new", state: "new", sealedFrom: 1, acknowledged: 0 };
    SlotFile.create(join(directory, "test.seal"), seal).close();
    const manifest = readdirSync(directory).find((name) => name.startsWith("MANIFEST"))!;
    writeFileSync(join(directory, manifest), "");
    await expect(all()).rejects.toThrow(DamagedStoreError);
  });
});

describe("a store of an earlier release", () => {
  const rows = Object.fromEntries(Array.from({ length: 3_500 }, (_, i) => [`key-${i}`, i % 7 ? `{"i":${i}}` : ""]));

  it("is migrated, and protected from then on", async () => {
    await legacy(rows);
    expect(await all()).toEqual(rows);
    const level = new ClassicLevel<string, string>(directory);
    expect(await level.get("key-1")).toMatch(/^.[0-9a-f]{8}\{"i":1\}$/);
    await level.put("key-1", "without a checksum");
    await level.close();
    await expect(all()).rejects.toThrow(DamagedStoreError);
  });

  it("is migrated by the next process if one dies in the middle", async () => {
    await legacy(rows);
    const { batch } = ClassicLevel.prototype;
    const stub = jest.spyOn(ClassicLevel.prototype, "batch");
    let calls = 0;
    stub.mockImplementation(function dying(this: unknown, ...args: unknown[]) {
      return calls++ === 2 ? Promise.reject(new Error("killed")) : Reflect.apply(batch, this, args);
    } as never);
    await expect(open()).rejects.toThrow("killed");
    stub.mockRestore();
    expect(await all()).toEqual(rows);
  });

  it("may have values that look like protected ones", async () => {
    await legacy({ a: "plain", token: "x\u000212345678" });
    expect(await all()).toEqual({ a: "plain", token: "x\u000212345678" });
  });
});

it("refuses a value that was written to another key, store or database", async () => {
  await write({ a: "1", b: "2" });
  const level = new ClassicLevel<string, string>(directory);
  await level.put("b", (await level.get("a"))!);
  await level.close();
  await expect(open()).rejects.toThrow("a record fails its checksum");
});

it("names the record that was damaged while the store was open", async () => {
  const database = await open();
  await database.write([{ key: "a", value: "intact" }]);
  const { getSync } = ClassicLevel.prototype;
  jest.spyOn(ClassicLevel.prototype, "getSync").mockImplementation(function damaged(this: unknown, ...args: unknown[]) {
    return `${Reflect.apply(getSync, this, args)}!`;
  } as never);
  expect(() => database.get("a")).toThrow(DamagedRecordError);
  expect(() => database.get("a")).toThrow('The record "a" in');
  jest.restoreAllMocks();
  expect(database.get("a")).toBe("intact");
  await database.close();
});

it("opens after a kill in the middle of a write", async () => {
  await write({ a: "1" });
  await write({ b: "2" });
  const log = join(directory, readdirSync(directory).find((name) => name.endsWith(".log"))!);
  const bytes = readFileSync(log);
  // The beginning of an unacknowledged record.
  writeFileSync(log, Buffer.concat([bytes, bytes.subarray(0, 20)]));
  expect(examine(location()).damages).toEqual([]);
  expect(await all()).toEqual({ a: "1", b: "2" });
});

it("writes in order and atomically", async () => {
  const database = await open();
  const writes = Array.from({ length: 50 }, (_, i) => database.write([{ key: "n", value: String(i) }]));
  await Promise.all(writes);
  expect(database.get("n")).toBe("49");
  await database.close();
});

it("continues after the disk was full, and loses no write of that time", async () => {
  const database = await open();
  await database.write([{ key: "a", value: "1" }]);
  const { batch } = ClassicLevel.prototype;
  const full = jest.spyOn(ClassicLevel.prototype, "batch").mockRejectedValueOnce(new Error("ENOSPC") as never);
  await expect(database.write([{ key: "b", value: "2" }])).rejects.toThrow("ENOSPC");
  full.mockRestore();
  expect(ClassicLevel.prototype.batch).toBe(batch);
  await database.write([{ key: "c", value: "3" }]);
  await database.close();
  expect(await all()).toEqual({ a: "1", c: "3" });
});
