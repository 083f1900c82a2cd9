import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DamagedStoreError } from "../../../local/storage/damage";
import { Journal } from "../../../local/storage/journal";

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "ringmaster-journal-"));
  path = join(directory, "journal.ndjson");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Opens, reads and closes. */
function left(): readonly string[] {
  const journal = new Journal<string>({ path });
  journal.close();
  return journal.recover();
}

/** Appends three entries, none of which is routed. */
function three(): void {
  const journal = new Journal<string>({ path });
  journal.append(["a"]);
  journal.append(["b", "c"]);
  journal.close();
}

it("returns what was appended and not routed", () => {
  three();
  expect(left()).toEqual(["a", "b", "c"]);
  const journal = new Journal<string>({ path });
  journal.routed(3);
  journal.append(["d"]);
  journal.close();
  expect(left()).toEqual(["d"]);
});

it("is emptied when it is long and all of it is routed", () => {
  const journal = new Journal<string>({ path });
  journal.append(["x".repeat(2 * 1024 * 1024)]);
  journal.routed(1);
  journal.append(["after"]);
  journal.close();
  expect(readFileSync(path).length).toBeLessThan(100);
  expect(left()).toEqual(["after"]);
});

it("drops a line that a kill has interrupted", () => {
  three();
  appendFileSync(path, '12345678 4 "ne');
  expect(left()).toEqual(["a", "b", "c"]);
  expect(left()).toEqual(["a", "b", "c"]);
});

it("is refused after the flip of any byte of it", () => {
  three();
  const bytes = readFileSync(path);
  for (const at of bytes.keys()) {
    const damaged = Buffer.from(bytes);
    damaged[at]! ^= 1;
    writeFileSync(path, damaged);
    expect(left).toThrow(DamagedStoreError);
  }
  writeFileSync(path, bytes);
  expect(left()).toEqual(["a", "b", "c"]);
});

it("is refused if it or its mark is truncated or missing", () => {
  three();
  const bytes = readFileSync(path);
  for (let length = 0; length < bytes.length; length++) {
    writeFileSync(path, bytes.subarray(0, length));
    expect(left).toThrow(/entry 3 of 3 is damaged or missing|more\)/);
  }
  rmSync(path);
  expect(left).toThrow(DamagedStoreError);
  writeFileSync(path, bytes);
  rmSync(`${path}.seal`);
  expect(left).toThrow("it is missing");
});

it("migrates the journal of an earlier release", () => {
  writeFileSync(path, '{"n":1}\n{"n":2}\n{"n":');
  expect(left()).toEqual([{ n: 1 }, { n: 2 }]);
  expect(readFileSync(path, "utf8")).toMatch(/^[0-9a-f]{8} 1 \{"n":1\}\n[0-9a-f]{8} 2 \{"n":2\}\n$/);
  expect(left()).toEqual([{ n: 1 }, { n: 2 }]);
});
