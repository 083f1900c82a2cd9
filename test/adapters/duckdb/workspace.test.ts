import * as fs from "node:fs";
import { DiskFullError, isDiskFull } from "../../../adapters/duckdb/errors";
import { withDuckDb } from "../../../adapters/duckdb/workspace";

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
