import { spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import * as path from "node:path";
import { DiskFullError, isDiskFull } from "../../../adapters/duckdb/errors";
import { makeTemporaryFolder, removeAbandonedFolders } from "../../../adapters/duckdb/temporary-folder";
import { withDuckDb } from "../../../adapters/duckdb/workspace";
import { processStart } from "../../../adapters/files/process-start";
import { temporaryFolder } from "../../support/temporary-folder";

describe("withDuckDb", () => {
  it("removes its directory in every case", async () => {
    const directories: string[] = [];
    await withDuckDb(async ({ directory }) => void directories.push(directory));
    const failing = withDuckDb(async ({ directory }) => {
      directories.push(directory);
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(directories.map((directory) => fs.existsSync(directory))).toEqual([false, false]);
  });

  it.each([
    ["Node's", Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" })],
    ["DuckDB's", new Error('IO Error: Could not write file "/tmp/x/rows.duckdb": No space left on device')],
  ])("says of %s error that the disk is full, and what to do", async (_whose, error) => {
    const failing = withDuckDb(async () => {
      throw error;
    });
    await expect(failing).rejects.toThrow(DiskFullError);
    await expect(failing).rejects.toThrow(/is full; free some space there, or set TMPDIR/);
  });

  it("does not change other errors", () => {
    expect(isDiskFull(new Error("IO Error: Could not read file"))).toBe(false);
    expect(isDiskFull(undefined)).toBe(false);
  });

  it("keeps equal sums equal: one thread, order kept", async () => {
    const settings = await withDuckDb(({ rows }) =>
      rows("SELECT current_setting('threads') AS threads, current_setting('preserve_insertion_order') AS ordered"),
    );
    expect(settings).toEqual([{ threads: 1n, ordered: true }]);
  });
});

describe("a temporary folder", () => {
  const parent = temporaryFolder("workspace");

  /** Creates the folder, with a file in it, that another owner would have. */
  function folderOf(pid: number, start: string, host?: string): string {
    const own = path.basename(makeTemporaryFolder("sources", parent));
    const [, , machine] = own.split("-");
    const folder = path.join(parent, `ringmaster-duckdb-${host ?? machine}-${pid}-${start}-AbCdEf`);
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, "rows.duckdb"), "rows");
    return folder;
  }

  it("is removed by the next process once its owner has ended, and not before", async () => {
    const owner = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
    await once(owner, "spawn");
    const folder = folderOf(owner.pid!, processStart(owner.pid!) ?? "0");
    removeAbandonedFolders(parent);
    expect(fs.existsSync(path.join(folder, "rows.duckdb"))).toBe(true);
    owner.kill("SIGKILL");
    await once(owner, "exit");
    fs.rmSync(makeTemporaryFolder("sources", parent), { recursive: true });
    expect(fs.existsSync(folder)).toBe(false);
  });

  it("is removed where a later process has the id of its owner", () => {
    const folder = folderOf(process.pid, "1");
    removeAbandonedFolders(parent);
    expect(fs.existsSync(folder)).toBe(processStart(process.pid) === undefined);
  });

  it.each<[string, () => string]>([
    ["another machine's", () => folderOf(999_999_999, "1", "00000000")],
    ["one without an owner in its name", () => fs.mkdtempSync(path.join(parent, "ringmaster-duckdb-"))],
    ["this process's own", () => makeTemporaryFolder("sources", parent)],
  ])("is kept: %s", (_whose, make) => {
    const folder = make();
    removeAbandonedFolders(parent);
    expect(fs.existsSync(folder)).toBe(true);
  });

  it("is not followed where it is a link", () => {
    const target = fs.mkdtempSync(path.join(parent, "target-"));
    const link = folderOf(999_999_999, "1");
    fs.rmSync(link, { recursive: true });
    fs.symlinkSync(target, link);
    removeAbandonedFolders(parent);
    expect([fs.existsSync(target), fs.lstatSync(link).isSymbolicLink()]).toEqual([true, true]);
  });
});
