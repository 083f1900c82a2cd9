import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lock } from "../../local/lock";

describe("the lock of a data directory", () => {
  let data: string;
  const file = () => join(data, "stack.lock");
  beforeEach(() => {
    data = mkdtempSync(join(tmpdir(), "ringmaster-lock-"));
  });
  afterEach(() => rmSync(data, { recursive: true, force: true }));

  it("is one file with the owner's pid, and is gone when released", () => {
    const release = lock(data);
    expect(readdirSync(data)).toEqual(["stack.lock"]);
    expect(readFileSync(file(), "utf8")).toBe(String(process.pid));
    release();
    expect(readdirSync(data)).toEqual([]);
  });

  it.each([
    ["a process that has ended", () => String(spawnSync(process.execPath, ["-e", ""]).pid)],
    ["nobody: a disk that was full", () => ""],
  ])("is taken over from %s", (_, content) => {
    writeFileSync(file(), content());
    lock(data);
    expect(readFileSync(file(), "utf8")).toBe(String(process.pid));
    expect(readdirSync(data)).toEqual(["stack.lock"]);
  });

  it("is refused while a stack runs, with the next step", () => {
    const owner = spawn(process.execPath, ["-e", "setInterval(() => 0, 1000)", "stack.js"], { stdio: "ignore" });
    try {
      writeFileSync(file(), String(owner.pid));
      expect(() => lock(data)).toThrow(`is in use by the stack with pid ${owner.pid}: stop it with`);
      expect(readdirSync(data)).toEqual(["stack.lock"]);
      expect(readFileSync(file(), "utf8")).toBe(String(owner.pid));
    } finally {
      owner.kill("SIGKILL");
    }
  });
});
