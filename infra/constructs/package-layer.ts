import fs from "node:fs";
import path from "node:path";
import { Annotations } from "aws-cdk-lib";
import { Architecture, LayerVersion } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import type { FunctionDefinition } from "../../platform/functions";
import { assembled } from "./bundled-code";
import { functionRuntime } from "./platform-function";

export type External = FunctionDefinition["externals"][number];

interface LayerContent {
  readonly packages: readonly string[];
  /** The native packages for Lambda's platform. npm installs them only on a machine of that platform. */
  readonly native: readonly string[];
  /** Whether to omit the packages' dependencies. */
  readonly alone?: true;
  readonly wanted: (file: string) => boolean;
}

/** The packages that bundles exclude (`scripts/build.js`), as they must be on Lambda. */
const contents: Readonly<Record<External, LayerContent>> = {
  duckdb: {
    packages: ["@duckdb/node-api", "@duckdb/node-bindings"],
    native: ["@duckdb/node-bindings-linux-x64"],
    wanted: (file) => !/\.(map|d\.ts|md)$/.test(file),
  },
  tfjs: {
    packages: [
      "@tensorflow/tfjs-core",
      "@tensorflow/tfjs-layers",
      "@tensorflow/tfjs-backend-cpu",
      "@tensorflow/tfjs-backend-wasm",
    ],
    native: [],
    // The packages contain each build for each kind of loader. Node loads these files.
    wanted: (file) =>
      !file.includes("/@tensorflow/") || /\/package\.json$|\/dist\/[^/]*\.node\.js$|\/dist\/[^/]*\.wasm$/.test(file),
  },
  onnx: {
    // Its other dependencies belong to its other builds, and would make the layer ten times as large.
    packages: ["onnxruntime-web", "onnxruntime-common"],
    native: [],
    alone: true,
    wanted: (file) =>
      file.includes("/onnxruntime-common/")
        ? /\/package\.json$|\/dist\/cjs\/[^/]*\.js(on)?$/.test(file)
        : /\/onnxruntime-web\/package\.json$|\/dist\/ort\.node\.min\.js$|\/dist\/ort-wasm-simd-threaded\.(mjs|wasm)$/.test(
            file,
          ),
  },
};

/** Creates a layer with packages and their dependencies, copied from this machine's `node_modules`. */
export function packageLayer(scope: Construct, external: External, nodeModules: string): LayerVersion {
  const { packages, native, alone, wanted } = contents[external];
  const missing = native.filter((name) => !fs.existsSync(path.join(nodeModules, name)));
  const present = [...packages, ...native.filter((name) => !missing.includes(name))];
  const layer = new LayerVersion(scope, `Layer-${external}`, {
    description: `Node packages of ${external}`,
    compatibleRuntimes: [functionRuntime],
    compatibleArchitectures: [Architecture.X86_64],
    code: assembled(external, path.join(nodeModules, packages[0]!), (directory) => {
      for (const name of alone ? present : closure(present, nodeModules)) {
        const source = path.join(nodeModules, name);
        copyFiles(source, path.join(directory, "nodejs", "node_modules", name), wanted);
      }
    }),
  });
  if (missing.length > 0) {
    Annotations.of(layer).addWarningV2(
      "ringmaster:native-packages",
      `The layer lacks ${missing.join(", ")}, which npm installs on linux-x64 only; functions that use it would fail on AWS. Before you deploy from this machine, run: npm install --no-save --force --os=linux --cpu=x64 ${missing.join(" ")}`,
    );
  }
  return layer;
}

/** Returns the packages and all their installed dependencies, direct and indirect. */
function closure(names: readonly string[], nodeModules: string): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (name: string) => {
    const manifest = path.join(nodeModules, name, "package.json");
    if (found.has(name) || name.startsWith("@types/") || !fs.existsSync(manifest)) return;
    found.add(name);
    const { dependencies = {} } = JSON.parse(fs.readFileSync(manifest, "utf8")) as {
      readonly dependencies?: Readonly<Record<string, string>>;
    };
    for (const dependency of Object.keys(dependencies)) visit(dependency);
  };
  for (const name of names) visit(name);
  return found;
}

function copyFiles(source: string, target: string, wanted: (file: string) => boolean): void {
  fs.cpSync(source, target, {
    recursive: true,
    filter: (file) => fs.statSync(file).isDirectory() || wanted(file.split(path.sep).join("/")),
  });
}
