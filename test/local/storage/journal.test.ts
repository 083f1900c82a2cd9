import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DamagedRecordError } from "../../../local/storage/damage";
import { Journal } from "../../../local/storage/journal";

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "ringmaster-journal-"));
  path = join(directory, "journal.ndjson");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function left(): readonly string[] {
  const journal = new Journal<string>(path);
  journal.close();
  return journal.recover();
}

function three(): void {
  const journal = new Journal<string>(path);
  journal.append(["a"]);
  journal.append(["b", "c"]);
  journal.close();
}

it("returns what was appended and not routed", () => {
  three();
  expect(left()).toEqual(["a", "b", "c"]);
  const journal = new Journal<string>(path);
  journal.routed(3);
  journal.append(["d"]);
  journal.close();
  expect(left()).toEqual(["d"]);
});

it("is emptied when all of it is routed", () => {
  const journal = new Journal<string>(path);
  journal.append(["a", "b"]);
  journal.routed(1);
  expect(readFileSync(path).length).toBeGreaterThan(0);
  journal.routed(1);
  expect(readFileSync(path).length).toBe(0);
  journal.append(["after"]);
  journal.close();
  expect(left()).toEqual(["after"]);
});

it("drops a line that a kill has interrupted", () => {
  three();
  appendFileSync(path, '12345678 ["ne');
  expect(left()).toEqual(["a", "b", "c"]);
  expect(left()).toEqual(["a", "b", "c"]);
});

it("drops an append that a power loss has torn, whichever of its bytes are on the disk", () => {
  three();
  const whole = readFileSync(path);
  const journal = new Journal<string>(path);
  journal.append(["not", "acknowledged"]);
  journal.close();
  const longer = readFileSync(path);
  for (let at = whole.length; at < longer.length; at++) {
    const torn = Buffer.from(longer);
    torn.fill(0, whole.length, at + 1);
    writeFileSync(path, torn);
    expect(left()).toEqual(["a", "b", "c"]);
  }
});

it("is refused after the flip of any byte of a line before the last, with the line's number", () => {
  three();
  const bytes = readFileSync(path);
  for (let at = 0; at < bytes.indexOf(10); at++) {
    const damaged = Buffer.from(bytes);
    damaged[at]! ^= 1;
    writeFileSync(path, damaged);
    expect(left).toThrow(DamagedRecordError);
    expect(left).toThrow('The record "line 1" in');
  }
  writeFileSync(path, bytes);
  expect(left()).toEqual(["a", "b", "c"]);
});
