import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { builtinModules } from "node:module";
import path from "node:path";
import { App } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { definePlatform } from "../../infra/platform";
import { functions } from "../../platform/functions";
import { ensureBuild } from "../../scripts/build.js";
import { repository } from "../infra/synthesized";
import { temporaryFolder } from "../support/temporary-folder";

/** AWS's limit of a function's code with its layers. */
const unpackedLimit = 250 * 2 ** 20;

/** Packages that a bundle names and that Lambda's copy does not need, with the reason. */
const notNeeded: Readonly<Record<string, string>> = {
  "@aws-sdk/signature-v4-crt": "The SDK signs with it for multi-region access points only, and names it in that error.",
};

interface Resource {
  readonly Properties: Readonly<Record<string, unknown>>;
}

function bytesBelow(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(path.join(entry.parentPath, entry.name)).size, 0);
}

/** Loads a handler in a process of its own: `/opt` has the layers, `/var/task` has the code, and there is nothing else. */
const load = `
globalThis.awslambda = { streamifyResponse: (stream) => stream }; // Lambda's runtime defines it.
const handler = require(process.argv[1]).handler;
const missing = process.argv.slice(2).filter((name) => {
  try {
    return !require(name);
  } catch {
    return true;
  }
});
process.stdout.write(JSON.stringify({ type: typeof handler, missing }));
process.exit();
`;

describe("a function's handler, with its asset and its layers alone", () => {
  const directory = temporaryFolder("handlers");
  let resources: Readonly<Record<string, Resource>>;
  let layers: Readonly<Record<string, Resource>>;
  beforeAll(() => {
    const { context } = JSON.parse(readFileSync(path.join(repository, "cdk.json"), "utf8")) as { context: object };
    const app = new App({
      context: { ...context, trainerImage: "registry.example.com/trainer:1" },
      outdir: path.join(directory, "out"),
      builtinCloudFormationValidation: false,
    });
    const { workflow } = definePlatform(app, { repository, bundles: ensureBuild() });
    app.synth();
    const template = Template.fromStack(workflow);
    resources = template.findResources("AWS::Lambda::Function") as unknown as typeof resources;
    layers = template.findResources("AWS::Lambda::LayerVersion") as unknown as typeof layers;
  });

  /** Returns the folder of a function's or a layer's asset. Its name in the bucket begins with its digest. */
  const assetOf = ({ Properties }: Resource): string => {
    const { S3Key } = (Properties["Code"] ?? Properties["Content"]) as { readonly S3Key: string };
    return path.join(directory, "out", `asset.${path.basename(S3Key, ".zip")}`);
  };

  it.each(functions.map(({ name }) => name))("%s loads, finds all its packages, and fits into Lambda", (name) => {
    const deployed = Object.values(resources).find(
      ({ Properties }) => Properties["FunctionName"] === `ringmaster-${name}`,
    )!;
    const used = ((deployed.Properties["Layers"] ?? []) as readonly { readonly Ref: string }[]).map(
      ({ Ref }) => layers[Ref]!,
    );
    // As on Lambda: code and layers lie next to nothing else, so Node finds no other packages above them.
    const task = path.join(directory, name, "task");
    const opt = path.join(directory, name, "opt");
    cpSync(assetOf(deployed), task, { recursive: true });
    const modules = path.join(opt, "nodejs", "node_modules");
    mkdirSync(modules, { recursive: true });
    for (const layer of used) link(path.join(assetOf(layer), "nodejs", "node_modules"), modules);
    expect(bytesBelow(task) + used.reduce((sum, layer) => sum + bytesBelow(assetOf(layer)), 0)).toBeLessThan(
      unpackedLimit,
    );

    const code = readFileSync(path.join(task, "handler.js"), "utf8");
    const required = [...code.matchAll(/\brequire\("([^"./][^"]*)"\)/g)].map(([, request]) => request!);
    const packages = [...new Set(required)].filter(
      (one) => !one.startsWith("node:") && !builtinModules.includes(one) && !(one in notNeeded),
    );
    const { Variables } = deployed.Properties["Environment"] as {
      readonly Variables: Readonly<Record<string, unknown>>;
    };
    const env = {
      ...Object.fromEntries(Object.entries(Variables).map(([key, value]) => [key, textOf(value)])),
      PATH: process.env["PATH"],
      NODE_PATH: modules,
      AWS_REGION: "us-east-1",
      AWS_LAMBDA_FUNCTION_NAME: `ringmaster-${name}`,
    };
    const args = ["--preserve-symlinks", "-e", load, path.join(task, "handler.js"), ...packages];
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: task, env, encoding: "utf8" });
    if (stdout === "") throw new Error(stderr);
    expect(JSON.parse(stdout)).toEqual({ type: "function", missing: [] });
  });
});

function link(from: string, to: string): void {
  for (const entry of readdirSync(from)) {
    if (entry.startsWith("@")) {
      mkdirSync(path.join(to, entry), { recursive: true });
      for (const name of readdirSync(path.join(from, entry))) {
        rmSync(path.join(to, entry, name), { force: true });
        symlinkSync(path.join(from, entry, name), path.join(to, entry, name));
      }
    } else {
      rmSync(path.join(to, entry), { force: true });
      symlinkSync(path.join(from, entry), path.join(to, entry));
    }
  }
}

/** Returns a variable's text. A value that CloudFormation computes has a sample. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : "arn:aws:states:us-east-1:111122223333:stateMachine:sample";
}
