import fs from "node:fs";
import path from "node:path";
import { LogFile } from "../../../local/logs/log-file";
import { filterStreams, readStream } from "../../../local/logs/read-events";
import { rebuildLog } from "../../../local/logs/rebuild-log";
import { LogStore, listLogDamage } from "../../../local/logs/store";
import { temporaryDirectory } from "./harness";

const always = { from: 0, to: Number.MAX_SAFE_INTEGER };
const messages = ["one", "two", "three", "four", "five"];
let directory: string;
let file: string;

beforeEach(() => {
  directory = temporaryDirectory();
  const store = new LogStore(directory);
  store.createGroup("g", 1);
  const log = store.createStream("g", "s", 1);
  log.append(
    messages.map((message, i) => ({ timestamp: 10 + i, message })),
    20,
  );
  file = log.file;
});
afterEach(() => fs.rmSync(directory, { recursive: true }));

const read = (limit = 100) => {
  const log = new LogStore(directory).requireStream("g", "s");
  return readStream(log, always, limit, true, undefined).events.map(({ message }) => message);
};
const readBackward = () => {
  const log = new LogStore(directory).requireStream("g", "s");
  return readStream(log, always, 100, false, undefined).events.map(({ message }) => message);
};
const filter = (term: string) =>
  filterStreams(
    new LogStore(directory).listStreams("g"),
    always,
    (message) => message === term,
    100,
    undefined,
  ).events.map(({ message }) => message);
const marker = (reason: string) => `[damaged] log stream s: ${reason}. \`ringmaster repair --list\` names the file.`;
const lines = () => fs.readFileSync(file, "utf8").split("\n");
const setLines = (next: readonly string[]) => fs.writeFileSync(file, next.join("\n"));

const flipped = (line: string) => line.replace(/\w"\]$/, '?"]');
const damages: Record<string, { apply: (all: readonly string[]) => readonly string[]; seen: readonly string[] }> = {
  "a changed record": {
    apply: ([header, one, two, ...rest]) => [header!, one!, flipped(two!), ...rest],
    seen: ["one", marker("record 2 is damaged or missing"), "three", "four", "five"],
  },
  "a missing record": {
    apply: ([header, one, , ...rest]) => [header!, one!, ...rest],
    seen: ["one", marker("record 2 is damaged or missing"), "three", "four", "five"],
  },
  "records that lost their line feed": {
    apply: ([header, one, two, three, ...rest]) => [header!, one!, `${two} ${three}`, ...rest],
    seen: ["one", marker("records 2 to 3 are damaged or missing"), "four", "five"],
  },
  "a lost end": {
    apply: ([header, one, two]) => [header!, one!, two!, ""],
    seen: ["one", "two", marker("records 3 to 5 are damaged or missing")],
  },
  "a record that is cut within an acknowledged append": {
    apply: ([header, one, two, three]) => [header!, one!, two!, three!.slice(0, 20)],
    seen: ["one", "two", marker("records 3 to 5 are damaged or missing")],
  },
};

describe("a damaged log", () => {
  it.each(Object.entries(damages))("shows a marker in place of %s, in both directions", (_, { apply, seen }) => {
    setLines(apply(lines()));
    expect(listLogDamage(directory)).toHaveLength(1);
    expect(read()).toEqual(seen);
    expect(readBackward()).toEqual(seen);
    expect(read()).toEqual(seen);
    const kept = seen.filter((message) => !message.startsWith("[damaged]"));
    expect(filter(kept.at(-1)!)).toEqual(expect.arrayContaining([seen.find((each) => each.startsWith("[damaged]"))]));

    const log = new LogStore(directory).requireStream("g", "s");
    log.append([{ timestamp: 30, message: "next" }], 30);
    expect(read()).toEqual([...seen, "next"]);
  });

  it("shows misplaced records as damage", () => {
    const [header, one, two, three, ...rest] = lines();
    setLines([header!, one!, three!, two!, ...rest]);
    expect(read()).toEqual(["one", marker("record 2 is damaged or missing"), "three", "four", "five"]);
  });

  it("reports a log that is missing or belongs to another stream", () => {
    const all = marker("records 1 to 5 are damaged or missing");
    const other = path.join(path.dirname(file), "other.jsonl");
    fs.copyFileSync(file, other);
    fs.rmSync(file);
    expect(read()).toEqual([all]);
    fs.copyFileSync(other, file);
    // The note about the loss was a record, and the older copy lacks it.
    expect(read()).toEqual([...messages, marker("record 6 is damaged or missing")]);
    LogFile.create(path.join(directory, "elsewhere.jsonl"), { name: "t", created: 1 }).append(
      [{ timestamp: 1, message: "foreign" }],
      1,
    );
    fs.copyFileSync(path.join(directory, "elsewhere.jsonl"), file);
    // Both notes were records.
    expect(read()).toEqual([marker("records 1 to 7 are damaged or missing")]);
  });

  it("reports a seal that is damaged or missing, once", () => {
    for (const damage of [() => fs.rmSync(`${file}.seal`), () => fs.writeFileSync(`${file}.seal`, "x\n")]) {
      damage();
      expect(read().filter((message) => message.includes("its seal is"))).not.toEqual([]);
    }
    expect(read()).toHaveLength(messages.length + 2);
    expect(read()).toHaveLength(messages.length + 2);
  });

  it("is repaired with its markers, and its damaged file is kept", () => {
    setLines(damages["a changed record"]!.apply(lines()));
    const damaged = fs.readFileSync(file);
    const aside = path.join(directory, "aside", "s.jsonl");
    rebuildLog(file, aside);
    expect(fs.readFileSync(aside).equals(damaged)).toBe(true);
    expect(listLogDamage(directory)).toEqual([]);
    expect(read()[1]).toBe(marker("record 2 is damaged or missing (found by a repair)"));
    const repaired = fs.readFileSync(file);
    rebuildLog(file, aside);
    expect(fs.readFileSync(file).equals(repaired)).toBe(true);
  });

  it("continues after a page that ends before damage", () => {
    setLines(damages["a missing record"]!.apply(lines()));
    const log = new LogStore(directory).requireStream("g", "s");
    const first = readStream(log, always, 1, true, undefined);
    const second = readStream(log, always, 1, true, first.forwardToken);
    const third = readStream(log, always, 1, true, second.forwardToken);
    const seen = [first, second, third].flatMap(({ events }) => events.map(({ message }) => message));
    expect(seen).toEqual(["one", marker("record 2 is damaged or missing"), "three", "four"]);
  });
});

describe("a log of a release without checksums", () => {
  it("is read and continued, and its damaged lines are marked", () => {
    const old = messages.map((message, i) => JSON.stringify([10 + i, 10 + i, 20, message]));
    fs.rmSync(`${file}.seal`);
    setLines([JSON.stringify({ name: "s", created: 1 }), ...old, ""]);
    expect(read()).toEqual(messages);
    new LogStore(directory).requireStream("g", "s").append([{ timestamp: 30, message: "next" }], 30);
    expect(read()).toEqual([...messages, "next"]);
    setLines(lines().map((line) => line.replace(',"two"]', ',"two')));
    expect(read()).toEqual(["one", marker("records are damaged"), "three", "four", "five", "next"]);
    expect(listLogDamage(directory)).toHaveLength(1);
  });
});
