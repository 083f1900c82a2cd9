import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { runCli } from "../support/cli";
import { temporaryFolder } from "../support/temporary-folder";

const root = path.resolve(__dirname, "..", "..");
const cli = path.join(root, "bin", "ringmaster.js");

describe("what a program that calls the command line can rely on", () => {
  const directory = temporaryFolder("cli-contract");
  const run = (...args: string[]) => runIn(path.join(directory, "none"), ...args);
  const runIn = (data: string, ...args: string[]) =>
    runCli(["--data", data, ...args, "--json"], { RINGMASTER_API_URL: "http://127.0.0.1:1" });

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
  ])("%j: one JSON document on stdout, exit code %i", async (args, exitCode, errorCode) => {
    const { code, out, err } = await run(...args);
    expect([code, JSON.parse(out).error.code]).toEqual([exitCode, errorCode]);
    expect(err).not.toMatch(/^\s+at /m);
  });

  it.each([
    ["runs", "search", "--help"],
    ["runs", "compare", "--help"],
    ["submit", "--help"],
    ["datasets", "deprecate", "--help"],
  ])("the help of %s %s shows no empty default", async (...args) => {
    const { code, out } = await run(...args);
    expect([code, out]).toEqual([0, expect.stringContaining("Options:")]);
    expect(out).not.toMatch(/default:\s+(?:\[\]|"")/);
  });

  it("a data directory that cannot be made is said to be so", async () => {
    const file = path.join(directory, "a-file");
    fs.writeFileSync(file, "");
    const { code, out } = await runIn(path.join(file, "below"), "up", "--detach");
    expect([code, JSON.parse(out).error.code]).toEqual([1, "STACK_START_FAILED"]);
  });

  it("--version and -V print the package's version", async () => {
    const { version } = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"));
    const { status, stdout } = spawnSync(process.execPath, [cli, "--version"], { encoding: "utf8" });
    expect([status, stdout]).toEqual([0, `${version}\n`]);
    expect((await runCli(["-V"])).out).toBe(stdout);
  });

  it("a command that fails ends its process with the exit code, and prints one JSON document", () => {
    const { status, stdout } = spawnSync(process.execPath, [cli, "--json", "nope"], { encoding: "utf8" });
    expect([status, JSON.parse(stdout).error.code]).toEqual([2, "INVALID_COMMAND"]);
  });

  it("models --help lists resolve", async () => {
    const { out } = await runCli(["models", "--help"]);
    expect(out).toMatch(/^ {2}resolve\|production <model> +show what a serving process loads/m);
  });
});
