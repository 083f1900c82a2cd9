import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { repository } from "./synthesized";

let directory: string;
beforeAll(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), "synth-"));
  // A path with Node and nothing else, in particular without Docker.
  fs.mkdirSync(path.join(directory, "bin"));
  fs.symlinkSync(process.execPath, path.join(directory, "bin", "node"));
});
afterAll(() => fs.rmSync(directory, { recursive: true }));

/** Runs `npx cdk synth` as on a new clone of the repository: no account, no credentials, no network, no Docker. */
function synth() {
  const cdk = path.join(repository, "node_modules", "aws-cdk", "bin", "cdk");
  const out = path.join(directory, "out");
  const { status, stdout, stderr } = spawnSync(process.execPath, [cdk, "synth", "--quiet", "--output", out], {
    cwd: repository,
    encoding: "utf8",
    env: {
      PATH: path.join(directory, "bin"),
      HOME: directory,
      AWS_EC2_METADATA_DISABLED: "true",
      // Without CDK's rules, which take two thirds of the time. test/infra/platform/nag.ts has more of them.
      CDK_VALIDATION: "false",
      // Every outgoing connection fails.
      HTTP_PROXY: "http://127.0.0.1:9",
      HTTPS_PROXY: "http://127.0.0.1:9",
    },
  });
  return { status, output: stdout + stderr, out };
}

it("synthesizes without an account, a network or Docker, and looks nothing up", () => {
  const { status, output, out } = synth();
  expect([status, status === 0 ? "" : output]).toEqual([0, ""]);
  const manifest = JSON.parse(fs.readFileSync(path.join(out, "manifest.json"), "utf8")) as {
    readonly missing?: unknown;
  };
  expect(manifest.missing).toBeUndefined();
  for (const stack of ["data", "compute", "workflow", "api", "triggers", "observability"]) {
    const template = fs.readFileSync(path.join(out, `ringmaster-${stack}.template.json`), "utf8");
    // The template fits any account and region.
    expect(/.{0,80}(us-east-1|:\d{12}:).{0,20}/.exec(template)?.[0]).toBeUndefined();
  }
});

it("reports only the problems of a configuration", () => {
  const { withInfra } = require("../../scripts/load-infra") as {
    withInfra(entry: string, use: (app: { synthesize(...places: readonly string[]): void }) => void): void;
  };
  const print = jest.spyOn(console, "error").mockImplementation();
  // The options `-c prefix=A_ -c retention.logDays=2` as `cdk` passes them on.
  process.env["CDK_CONTEXT_JSON"] = JSON.stringify({ prefix: "A_", "retention.logDays": "2" });
  withInfra("infra/app.ts", ({ synthesize }) => synthesize(repository, ""));
  const [output] = print.mock.calls.flat() as [string];
  expect([process.exitCode, print.mock.calls.length]).toEqual([1, 1]);
  process.exitCode = 0;
  expect(output).toContain("The configuration has 2 problems:");
  expect(output).toContain('prefix is "A_", but must be 2 to 24 lowercase letters');
  expect(output).toContain("retention.logDays is 2, but must be a time that CloudWatch Logs knows");
  expect(output).not.toMatch(/^\s+at /m);
});
