import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { joinViews } from "../../cli/features/join";
import { assertKeepsInputs } from "../../cli/write-file";
import type { ApiClient } from "../../client/api-client";
import { temporaryFolder } from "../support/temporary-folder";

describe("a file that a command reads", () => {
  const directory = temporaryFolder("write-file");
  const [rows, link] = [join(directory, "rows.csv"), join(directory, "link.csv")];
  writeFileSync(rows, "x\n1\n");
  symlinkSync(rows, link);

  it.each([
    [rows, rows],
    [`${directory}/./rows.csv`, rows],
    [link, rows],
    [rows, link],
  ])("%s is not written as %s", (input, output) => {
    expect(() => assertKeepsInputs("--out", output, { "--schema": undefined, "--file": input })).toThrow(
      "must be another file: this one is read as --file and would be overwritten",
    );
  });

  it("does not keep another file from being written", () => {
    assertKeepsInputs("--out", join(directory, "new.csv"), { "--file": rows });
    assertKeepsInputs("--out", rows, { "--file": join(directory, "absent.csv") });
    assertKeepsInputs("--out", undefined, { "--file": rows });
  });

  it("is not written by a join of views", async () => {
    const request = { labels: rows, time: "x", output: link, fullNames: false, views: ["spend"] };
    await expect(joinViews({} as ApiClient, request)).rejects.toThrow("is read as labels and would be overwritten");
    expect(readFileSync(rows, "utf8")).toBe("x\n1\n");
  });
});
