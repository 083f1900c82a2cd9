import fs, { appendFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { ClassicLevel } from "classic-level";
import { DamagedRecordError, DamagedStoreError } from "../../../local/storage/damage";
import { Database } from "../../../local/storage/database";
import { isDiskFull } from "../../../local/storage/space";
import { seededRandom } from "../../support/random";
import { mountSmallDisk } from "../../support/small-disk";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "ringmaster-database-"));
});
afterEach(() => {
  jest.restoreAllMocks();
  rmSync(directory, { recursive: true, force: true });
});

const write = async (rows: Readonly<Record<string, string>>): Promise<void> => {
  const database = await open();
  await database.write(Object.entries(rows).map(([key, value]) => ({ key, value })));
  await database.close();
};
async function open(): Promise<Database<string>> {
  const database = new Database<string>({ directory, store: "test" }, "utf8");
  await database.open();
  return database;
}
async function all(): Promise<Record<string, string>> {
  const database = await open();
  const rows = Object.fromEntries(await database.entries({}));
  await database.close();
  return rows;
}
/** Changes what LevelDB has stored for a key. */
async function change(key: string, to: (stored: string) => string): Promise<void> {
  const level = new ClassicLevel<string, string>(directory);
  await level.put(key, to((await level.get(key))!));
  await level.close();
}
const manifest = () => join(directory, readFileSync(join(directory, "CURRENT"), "utf8").trim());

describe("a store that a power loss interrupted", () => {
  it("is created again if its manifest was not written and nothing was acknowledged", async () => {
    writeFileSync(join(directory, "CURRENT"), "MANIFEST-000001\n");
    writeFileSync(join(directory, "MANIFEST-000001"), "");
    await write({ key: "value" });
    expect(await all()).toEqual({ key: "value" });
  });

  it("opens with a manifest whose last edit has its length but not all of its bytes", async () => {
    await write({ key: "value" });
    await write({ other: "value" });
    const whole = readFileSync(manifest());
    for (let bytes = 1; bytes < 40; bytes++) {
      const torn = Buffer.concat([whole, whole.subarray(0, bytes), Buffer.alloc(40 - bytes)]);
      const copy = mkdtempSync(join(tmpdir(), "ringmaster-torn-"));
      cpSync(directory, copy, { recursive: true });
      writeFileSync(join(copy, basename(manifest())), torn);
      const database = new Database<string>({ directory: copy, store: "test" }, "utf8");
      await database.open();
      expect(Object.fromEntries(await database.entries({}))).toEqual({ key: "value", other: "value" });
      await database.close();
      rmSync(copy, { recursive: true });
    }
  });

  it.each(["CURRENT", "the manifest"])("is refused if it has changes and %s is lost", async (file) => {
    await write({ key: "value" });
    if (file === "CURRENT") rmSync(join(directory, file));
    else writeFileSync(manifest(), "");
    await expect(all()).rejects.toThrow(DamagedStoreError);
  });
});

it("refuses a value of another key, and names the damaged records", async () => {
  await write({ a: "1", b: "2", c: "3" });
  await change("b", () => "00000000");
  await change("c", (stored) => `${stored}!`);
  const database = await open();
  await expect(database.entries({})).rejects.toThrow('The record "b" in');
  expect(database.get("a")).toBe("1");
  expect(() => database.get("c")).toThrow(DamagedRecordError);
  expect(await database.damagedKeys()).toEqual(["b", "c"]);
  await database.close();
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
  writeFileSync(log, Buffer.concat([bytes, bytes.subarray(0, 20)]));
  expect(await all()).toEqual({ a: "1", b: "2" });
});

it("writes in order and atomically", async () => {
  const database = await open();
  const writes = Array.from({ length: 50 }, (_, i) => database.write([{ key: "n", value: String(i) }]));
  await Promise.all(writes);
  expect(database.get("n")).toBe("49");
  await database.close();
});

/** Makes the disk full: a batch leaves the beginning of its record in the log, and no file can be written. */
function fillDisk(): () => void {
  const error = () => Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
  const spies = [
    jest.spyOn(ClassicLevel.prototype, "batch").mockImplementation((() => {
      const log = readdirSync(directory).find((name) => name.endsWith(".log"))!;
      appendFileSync(join(directory, log), readFileSync(join(directory, log)).subarray(0, 20));
      return Promise.reject(error());
    }) as never),
    jest.spyOn(fs, "writeFileSync").mockImplementation(() => {
      throw error();
    }),
  ];
  return () => spies.forEach((spy) => void spy.mockRestore());
}

describe("a full disk", () => {
  it("refuses writes, keeps the values readable, and accepts writes once there is space", async () => {
    const database = await open();
    await database.write([{ key: "a", value: "1" }]);
    const free = fillDisk();
    for (const key of ["b", "c"]) {
      await expect(database.write([{ key, value: "2" }])).rejects.toThrow("ENOSPC");
      expect(database.get("a")).toBe("1");
    }
    free();
    await database.write([{ key: "d", value: "3" }]);
    expect(Object.fromEntries(await database.entries({}))).toEqual({ a: "1", d: "3" });
    await database.close();
    expect(await all()).toEqual({ a: "1", d: "3" });
  });

  it("leaves a store that starts without repair", async () => {
    const database = await open();
    await database.write([{ key: "a", value: "1" }]);
    const free = fillDisk();
    await expect(database.write([{ key: "b", value: "2" }])).rejects.toThrow("ENOSPC");
    await database.close();
    free();
    await write({ c: "3" });
    expect(await all()).toEqual({ a: "1", c: "3" });
  });

  it("does not disturb readers while the store is opened again", async () => {
    const database = await open();
    const rows = Array.from({ length: 3_000 }, (_, i) => ({ key: `k${String(i).padStart(4, "0")}`, value: "v" }));
    await database.write(rows);
    jest.spyOn(ClassicLevel.prototype, "batch").mockRejectedValueOnce(new Error("once") as never);
    let seen = 0;
    let writing: Promise<void> | undefined;
    for await (const chunk of database.chunks({})) {
      writing ??= database.write([{ key: "new", value: "1" }]);
      await new Promise((resolve) => setTimeout(resolve, 5));
      seen += chunk.length;
    }
    await writing;
    expect(seen).toBe(rows.length);
    expect((await database.entries({})).length).toBe(rows.length + 1);
    await database.close();
  });
});

const disk = mountSmallDisk(6);
afterAll(() => disk?.unmount());

(disk ? it : it.skip)("keeps every acknowledged write of a disk that is full again and again", async () => {
  const small = join(disk!.directory, "store");
  const options = { directory: small, store: "test", writeBufferBytes: 256 * 1024 };
  let database = new Database<string>(options, "utf8");
  await database.open();
  const acknowledged: Record<string, string> = {};
  const random = seededRandom(7);
  const store = async (key: string): Promise<boolean> => {
    const value = key.repeat(1 + Math.floor(random() * 3_000));
    const written = await database.write([{ key, value }]).then(
      () => true,
      (error: Error) => {
        expect(isDiskFull(error)).toBe(true);
        return false;
      },
    );
    if (written) acknowledged[key] = value;
    return written;
  };
  for (let round = 0; round < 8; round++) {
    disk!.fill(Math.floor(random() * 200_000));
    let refused = 0;
    for (let n = 0; refused < 3; n++) if (!(await store(`r${round}-${n}`))) refused++;
    for (const [key, value] of Object.entries(acknowledged)) expect(database.get(key)).toBe(value);
    const killed = mkdtempSync(join(tmpdir(), "ringmaster-killed-"));
    cpSync(disk!.directory, killed, { recursive: true, filter: (name) => !name.endsWith("ballast") });
    const copy = new Database<string>({ directory: join(killed, "store"), store: "test" }, "utf8");
    await copy.open();
    expect(Object.fromEntries(await copy.entries({}))).toMatchObject(acknowledged);
    await copy.close();
    rmSync(killed, { recursive: true });
    if (round % 3 === 2) {
      await database.close();
      if (round % 2 === 0) disk!.free();
      disk!.free();
      database = new Database<string>(options, "utf8");
      await database.open();
    }
    disk!.free();
    expect(await store(`after-${round}`)).toBe(true);
    expect(Object.fromEntries(await database.entries({}))).toEqual(acknowledged);
    for (const key of Object.keys(acknowledged).slice(0, -5)) {
      await database.write([{ key, value: undefined }]);
      delete acknowledged[key];
    }
  }
  await database.close();
});
