import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { directoryProblem } from "../../adapters/files/directory-problem";
import { closeToOthers } from "../../local/modes";
import { RotatingLog } from "../../local/rotating-log";
import { temporaryFolder } from "../support/temporary-folder";
import { bundle } from "./lambda/bundle";

const directory = temporaryFolder("files");

describe("a rotating log", () => {
  const limits = { maxBytes: 1_000, keep: 3 };
  const linesOf = (folder: string): readonly string[] =>
    readdirSync(folder)
      .sort((a, b) => Number(b.split(".")[2] ?? 0) - Number(a.split(".")[2] ?? 0))
      .flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n").slice(0, -1));

  it("keeps the newest lines, in order, in files of bounded size and number that others may not read", () => {
    const folder = join(directory, "log");
    mkdirSync(folder);
    const file = join(folder, "stack.log");
    for (let start = 0; start < 600; start += 200) {
      const log = new RotatingLog(file, limits);
      for (let n = start; n < start + 200; n += 1) log.write(`line ${String(n).padStart(4, "0")}\n`);
    }
    expect(readdirSync(folder).sort()).toEqual(["stack.log", "stack.log.1", "stack.log.2", "stack.log.3"]);
    for (const name of readdirSync(folder)) {
      const { size, mode } = statSync(join(folder, name));
      expect([size <= 1_000, mode & 0o777]).toEqual([true, 0o600]);
    }
    const kept = linesOf(folder);
    expect(kept.at(-1)).toBe("line 0599");
    expect(kept).toEqual(kept.map((_, at) => `line ${String(600 - kept.length + at).padStart(4, "0")}`));
  });

  it("writes a line that is longer than a file may be", () => {
    const folder = join(directory, "long");
    mkdirSync(folder);
    const log = new RotatingLog(join(folder, "stack.log"), limits);
    log.write(`${"x".repeat(5_000)}\n`);
    log.write("next\n");
    expect(linesOf(folder)).toEqual(["x".repeat(5_000), "next"]);
  });

  it("loses no line that was printed before a kill", async () => {
    const folder = join(directory, "killed");
    mkdirSync(folder);
    const module = bundle("local/rotating-log.ts", folder);
    const source = `const { RotatingLog, printTo } = require(${JSON.stringify(module)});
      printTo(new RotatingLog(${JSON.stringify(join(folder, "stack.log"))}, { maxBytes: 2000, keep: 1000 }));
      for (let n = 0; ; n += 1) { console.log("line " + n); process.send(n); if (n === 2000) process.kill(process.pid, "SIGKILL"); }`;
    const child = spawn(process.execPath, ["-e", source], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
    let sent = -1;
    child.on("message", (n) => {
      sent = Number(n);
    });
    await once(child, "exit");
    rmSync(module);
    const lines = linesOf(folder);
    expect(lines).toEqual(lines.map((_, n) => `line ${n}`));
    expect(lines.length).toBeGreaterThan(Math.max(sent, 2000));
  });
});

describe("files of a data directory", () => {
  it("lose the rights of other users at start", () => {
    const data = join(directory, "data");
    const content = join(data, "s3/buckets/b/objects");
    mkdirSync(content, { recursive: true, mode: 0o755 });
    mkdirSync(join(data, "logs"));
    const outside = join(directory, "outside");
    writeFileSync(outside, "", { mode: 0o644 });
    for (const name of ["stack.log", "logs/a.jsonl", "s3/buckets/b/objects/o"]) {
      writeFileSync(join(data, name), "");
      chmodSync(join(data, name), 0o664);
    }
    symlinkSync(outside, join(data, "link"));
    for (const name of ["", "logs", "s3", "s3/buckets"]) chmodSync(join(data, name), 0o755);
    closeToOthers(data);
    const modes = ["", "stack.log", "logs", "logs/a.jsonl", "s3/buckets", "s3/buckets/b/objects/o"].map(
      (name) => statSync(join(data, name)).mode & 0o777,
    );
    expect(modes).toEqual([0o700, 0o600, 0o700, 0o600, 0o700, 0o600]);
    expect(statSync(outside).mode & 0o777).toBe(0o644);
    chmodSync(join(data, "stack.log"), 0o644);
    closeToOthers(data);
    expect(statSync(join(data, "stack.log")).mode & 0o777).toBe(0o600);
  });

  it.each([
    ["a full disk", Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" }), "is full"],
    ["a quota", Object.assign(new Error("write"), { code: "EDQUOT" }), "is full"],
    [
      "a full disk below a database",
      new Error("Database failed to open", { cause: new Error("IO error: /d/x/LOCK: No space left on device") }),
      "is full",
    ],
    ["a read-only disk", Object.assign(new Error("mkdir"), { code: "EROFS" }), "read-only"],
    ["another user's directory", Object.assign(new Error("open"), { code: "EACCES" }), "may not write"],
    [
      "a database that is open elsewhere",
      new Error("Database failed to open", {
        cause: Object.assign(new Error("IO error: lock /d/LOCK: already held by process"), { code: "LEVEL_LOCKED" }),
      }),
      "another process",
    ],
    ["a file in the way", Object.assign(new Error("mkdir"), { code: "ENOTDIR" }), "move it away"],
  ])("that cannot be used because of %s are described in one sentence", (_what, error, words) => {
    const problem = directoryProblem(error, "/d")!;
    expect(problem).toContain(words);
    expect(problem).toMatch(/^[^\n]+, or choose another directory with --data DIRECTORY$/);
  });

  it("report other errors as defects of the program", () => {
    expect(directoryProblem(new TypeError("x is not a function"), "/d")).toBeUndefined();
    expect(directoryProblem(undefined, "/d")).toBeUndefined();
  });
});
