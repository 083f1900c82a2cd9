import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { temporaryFolder } from "../support/temporary-folder";

const root = path.resolve(__dirname, "..", "..");
const cli = path.join(root, "bin", "ringmaster.js");

describe("what a program that calls the command line can rely on", () => {
  const directory = temporaryFolder("cli-contract");
  /** No stack runs over this data, and the environment points to one that does not answer. */
  const run = (...args: string[]) => runIn(path.join(directory, "none"), ...args);
  const runIn = (data: string, ...args: string[]) =>
    spawnSync(process.execPath, [cli, "--data", data, ...args, "--json"], {
      encoding: "utf8",
      env: { ...process.env, RINGMASTER_API_URL: "http://127.0.0.1:1" },
    });

  it.each([
    [["runs", "bogus"], 2, "INVALID_COMMAND"],
    [["submit"], 2, "INVALID_COMMAND"],
    [["up", "--bogus"], 2, "INVALID_COMMAND"],
    [["native", "--library", "tpu"], 2, "INVALID_COMMAND"],
    [["up", "--port", "70000"], 2, "INVALID_INPUT"],
    [["up", "--workers", "0"], 2, "INVALID_INPUT"],
    [["up", "--workers", "many"], 2, "INVALID_INPUT"],
    [["runs", "list", "--limit", "1", "--limit", "2"], 2, "INVALID_INPUT"],
    [["submit", os.tmpdir()], 2, "INVALID_INPUT"],
    [["runs", "list", "--api", "nowhere"], 2, "INVALID_INPUT"],
    [["env"], 1, "STACK_NOT_RUNNING"],
    // A given directory means its own stack, not the one in the environment.
    [["runs", "list"], 1, "STACK_NOT_RUNNING"],
    [["runs", "list", "--api", "http://127.0.0.1:1"], 1, "API_UNREACHABLE"],
  ])("%j: one JSON document on stdout, exit code %i", (args, exitCode, code) => {
    const { status, stdout, stderr } = run(...args);
    expect([status, JSON.parse(stdout).error.code]).toEqual([exitCode, code]);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it.each([
    ["runs", "search", "--help"],
    ["runs", "compare", "--help"],
    ["submit", "--help"],
    ["datasets", "deprecate", "--help"],
  ])("the help of %s %s shows no empty default", (...args) => {
    const { status, stdout } = run(...args);
    expect([status, stdout]).toEqual([0, expect.stringContaining("Options:")]);
    expect(stdout).not.toMatch(/default:\s+(?:\[\]|"")/);
  });

  it("a data directory that cannot be made is said to be so", () => {
    const file = path.join(directory, "a-file");
    fs.writeFileSync(file, "");
    const { status, stdout } = runIn(path.join(file, "below"), "up", "--detach");
    expect([status, JSON.parse(stdout).error.code]).toEqual([1, "STACK_START_FAILED"]);
  });

  it("--version prints the package's version", () => {
    const { version } = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"));
    for (const option of ["--version", "-V"]) {
      const { status, stdout } = spawnSync(process.execPath, [cli, option], { encoding: "utf8" });
      expect([status, stdout]).toEqual([0, `${version}\n`]);
    }
  });

  it("models --help lists resolve", () => {
    const { stdout } = spawnSync(process.execPath, [cli, "models", "--help"], { encoding: "utf8" });
    expect(stdout).toMatch(/^ {2}resolve\|production <model> +show what a serving process loads/m);
  });
});
