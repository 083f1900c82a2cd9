import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { buildSync } from "esbuild";
import fc from "fast-check";
import { LogFile } from "../../../local/logs/log-file";
import { LogStore } from "../../../local/logs/store";
import { rounds, seedOf } from "../../support/rounds";
import { temporaryDirectory } from "./harness";

let directory: string;
beforeAll(() => {
  directory = temporaryDirectory();
});
afterAll(() => fs.rmSync(directory, { recursive: true }));

let files = 0;
const newFile = () => path.join(directory, `stream-${files++}`);
const header = { name: "s", created: 1 };

describe("a log file", () => {
  it("reads the same forward and backward, and finds any time, whatever the lines' lengths", () => {
    const event = fc.record({
      step: fc.integer({ min: -3, max: 3 }),
      length: fc.constantFrom(1, 10, 1000, 70_000, 140_000),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), (steps) => {
        let timestamp = 100;
        const lines = steps.map(({ step, length }, index) => {
          timestamp += step;
          return { timestamp, message: String(index % 10).repeat(length) };
        });
        const log = LogFile.create(newFile(), header);
        log.append(lines, 7);
        const forward = [...log.forward(log.head)];
        expect(forward.map(({ timestamp, message }) => ({ timestamp, message }))).toEqual(lines);
        expect([...log.backward(log.size)].reverse()).toEqual(forward);
        for (let order = 60; order <= 140; order++) {
          expect(log.seek(order)).toBe(forward.find((stored) => stored.order >= order)?.start ?? log.size);
        }
        fs.rmSync(log.file);
      }),
      { seed: seedOf(1), numRuns: rounds(5, 50) },
    );
  });

  it("drops its oldest lines when it would exceed its limit, and keeps the positions of the others", () => {
    const file = newFile();
    const bound = 4_000;
    let log = LogFile.create(file, header, bound);
    const places = new Map<string, number>();
    for (let n = 0; n < 500; n += 1) {
      log.append([{ timestamp: 1_000 + n, message: `line ${n}` }], 7);
      const { message, start } = log.last()!;
      places.set(message, start);
      expect(fs.statSync(file).size).toBeLessThanOrEqual(bound);
      if (n % 50 === 0) log = LogFile.open(file, bound)!;
    }
    const kept = [...log.forward(0)];
    expect(kept.length).toBeGreaterThan(20);
    expect(kept.map(({ message }) => message)).toEqual(kept.map((_, at) => `line ${500 - kept.length + at}`));
    expect(kept.map(({ start }) => start)).toEqual(kept.map(({ message }) => places.get(message)));
    expect([...log.backward(log.size)].reverse()).toEqual(kept);
    expect([...log.forward(places.get("line 3")!)]).toEqual(kept);
    expect([...log.forward(places.get("line 490")!)][0]!.message).toBe("line 490");
    expect(log.seek(1_495)).toBe(places.get("line 495"));
    expect(LogFile.open(file)!.header).toMatchObject(header);
    fs.writeFileSync(`${file}.tmp`, "half");
    log.append([{ timestamp: 2_000, message: "last" }], 7);
    expect(log.last()!.message).toBe("last");
  });

  it("is removed with the oldest of its group if there are too many or they are too large", () => {
    const root = path.join(directory, "bounded");
    const store = new LogStore(root, { streams: 3, bytes: 1_000 });
    store.createGroup("g", 1);
    const names = () => store.listStreams("g").map((stream) => stream.header.name);
    const write = (name: string, message: string, seconds: number) => {
      const stream = store.createStream("g", name, 1);
      stream.append([{ timestamp: 1, message }], 1);
      fs.utimesSync(stream.file, seconds, seconds);
    };
    for (const [at, name] of ["a", "b", "c", "d"].entries()) write(name, "x", at);
    expect(names()).toEqual(["b", "c", "d"]);
    write("large", "x".repeat(950), 10);
    write("e", "x", 11);
    expect(names()).toEqual(["e"]);
    // A removed stream begins again with the next write.
    expect(store.findStream("g", "b")).toBeUndefined();
    write("b", "again", 12);
    expect(names()).toEqual(["b", "e"]);
  });

  it("keeps every complete line after a cut, and continues after it", () => {
    const file = newFile();
    LogFile.create(file, header).append(
      ["one", "two", "three"].map((message, timestamp) => ({ timestamp, message })),
      7,
    );
    const whole = fs.readFileSync(file);
    const ends = [...whole].flatMap((byte, at) => (byte === 10 ? [at + 1] : []));
    for (let cut = 0; cut <= whole.length; cut++) {
      fs.writeFileSync(file, whole.subarray(0, cut));
      const linesLeft = ends.filter((end) => end <= cut).length;
      const log = LogFile.open(file);
      if (linesLeft === 0) {
        expect([log, fs.existsSync(file)]).toEqual([undefined, false]);
        continue;
      }
      log!.append([{ timestamp: 9, message: "next" }], 8);
      const messages = [...LogFile.open(file)!.forward(0)].map(({ message }) => message);
      expect(messages).toEqual([...["one", "two", "three"].slice(0, linesLeft - 1), "next"]);
    }
  });

  it("skips a damaged line, and names a file whose first line is damaged", () => {
    const file = newFile();
    const log = LogFile.create(file, header);
    log.append(
      ["one", "two", "three"].map((message, timestamp) => ({ timestamp, message })),
      7,
    );
    const [first = "", one, , three] = fs.readFileSync(file, "utf8").split("\n");
    fs.writeFileSync(file, [first, one, '[1,1,7,"tw', three, ""].join("\n"));
    const damaged = LogFile.open(file)!;
    const forward = [...damaged.forward(0)].map(({ message }) => message);
    const backward = [...damaged.backward(damaged.size)].map(({ message }) => message);
    expect([forward, backward]).toEqual([
      ["one", "three"],
      ["three", "one"],
    ]);
    fs.writeFileSync(file, `${first.slice(1)}\n`);
    expect(() => LogFile.open(file)).toThrow(`The first line of the log ${file} is damaged`);
  });

  it("undoes an append that found no space", () => {
    const log = LogFile.create(newFile(), header);
    log.append([{ timestamp: 1, message: "kept" }], 1);
    const spy = jest.spyOn(fs, "appendFileSync").mockImplementation((file) => {
      fs.writeFileSync(String(file), '[2,2,2,"half', { flag: "a" });
      throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
    });
    expect(() => log.append([{ timestamp: 2, message: "half" }], 2)).toThrow("ENOSPC");
    spy.mockRestore();
    log.append([{ timestamp: 3, message: "after" }], 3);
    expect([...log.forward(0)].map(({ message }) => message)).toEqual(["kept", "after"]);
  });
});

const program = `
  import { createLogs } from "./local/logs";
  createLogs({ dataDirectory: process.argv[2] }).then((logs) => {
    const more = (n) => {
      logs.append("group", "stream", [{ timestamp: n, message: "line " + n + " " + "x".repeat(n % 5000) }]);
      process.stdout.write(n + "\\n", () => more(n + 1));
    };
    more(0);
  });
`;

it("kill -9 loses no line whose append has returned", async () => {
  const script = path.join(directory, "appender.js");
  const stdin = { contents: program, resolveDir: path.resolve(__dirname, "../../.."), loader: "ts" as const };
  buildSync({ stdin, outfile: script, bundle: true, platform: "node", logLevel: "error" });
  const data = path.join(directory, "killed");
  const child: ChildProcess = spawn(process.execPath, [script, data], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout!.on("data", (chunk: Buffer) => {
    output += chunk.toString();
    if (output.split("\n").length > 300) child.kill("SIGKILL");
  });
  await once(child, "close");
  const acknowledged = Number(output.trimEnd().split("\n").at(-1));
  const log = LogFile.open(path.join(data, "groups", "group", "stream.jsonl"))!;
  const lines = [...log.forward(0)].map(({ timestamp, message }) => [timestamp, message.split(" ")[1]]);
  expect(lines).toEqual(lines.map((_, n) => [n, String(n)]));
  expect(lines.length).toBeGreaterThan(acknowledged);
});
