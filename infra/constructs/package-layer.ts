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
  /** The native packages for Lambda's platform, with their binaries. npm installs them only on that platform. */
  readonly native: Readonly<Record<string, readonly string[]>>;
  readonly alone?: true;
  readonly wanted: (file: string) => boolean;
}

/** The packages that bundles exclude (`scripts/build.js`), as they must be on Lambda. */
const contents: Readonly<Record<External, LayerContent>> = {
  duckdb: {
    packages: ["@duckdb/node-api", "@duckdb/node-bindings"],
    native: { "@duckdb/node-bindings-linux-x64": ["duckdb.node", "libduckdb.so"] },
    wanted: (file) => !/\.(map|d\.ts|md)$/.test(file),
  },
  tfjs: {
    packages: [
      "@tensorflow/tfjs-core",
      "@tensorflow/tfjs-layers",
      "@tensorflow/tfjs-backend-cpu",
      "@tensorflow/tfjs-backend-wasm",
    ],
    native: {},
    // The packages contain each build for each kind of loader. Node loads these files.
    wanted: (file) =>
      !file.includes("/@tensorflow/") || /\/package\.json$|\/dist\/[^/]*\.node\.js$|\/dist\/[^/]*\.wasm$/.test(file),
  },
  onnx: {
    // Its other dependencies belong to its other builds, and would make the layer ten times as large.
    packages: ["onnxruntime-web", "onnxruntime-common"],
    native: {},
    alone: true,
    wanted: (file) =>
      file.includes("/onnxruntime-common/")
        ? /\/package\.json$|\/dist\/cjs\/[^/]*\.js(on)?$/.test(file)
        : /\/onnxruntime-web\/package\.json$|\/dist\/ort\.node\.min\.js$|\/dist\/ort-wasm-simd-threaded\.(mjs|wasm)$/.test(
            file,
          ),
  },
};

/** Copies packages from this `node_modules`. The stack has an error if they have no binary for Lambda's platform. */
export function packageLayer(scope: Construct, external: External, nodeModules: string): LayerVersion {
  const { packages, native, alone, wanted } = contents[external];
  const present = [...packages, ...Object.keys(native).filter((name) => fs.existsSync(path.join(nodeModules, name)))];
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
  const versions = Object.assign(
    {},
    ...packages.map((name) => manifestOf(name, nodeModules)?.optionalDependencies),
  ) as Readonly<Record<string, string>>;
  const problems = Object.entries(native).flatMap(([name, files]) => {
    const installed = manifestOf(name, nodeModules)?.version;
    const other = files.find((file) => !isLinuxX64(path.join(nodeModules, name, file)));
    if (installed === undefined) return [[name, "is not installed: npm installs it on linux-x64 only"]];
    if (installed !== versions[name]) return [[name, `has version ${installed}, but must have ${versions[name]}`]];
    return other === undefined ? [] : [[name, `has no ${other} for linux-x64`]];
  });
  if (problems.length > 0) {
    const install = problems.map(([name]) => `${name}@${versions[name!]}`).join(" ");
    Annotations.of(layer).addError(
      `The functions that use ${external} would fail on AWS: ${problems.map((one) => one.join(" ")).join("; ")}. Run: npm install --no-save --force --os=linux --cpu=x64 ${install}`,
    );
  }
  return layer;
}

function isLinuxX64(file: string): boolean {
  if (!fs.existsSync(file)) return false;
  const header = Buffer.alloc(20);
  const descriptor = fs.openSync(file, "r");
  fs.readSync(descriptor, header);
  fs.closeSync(descriptor);
  return header.toString("latin1", 0, 5) === "\x7fELF\x02" && header.readUInt16LE(18) === 62;
}

interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}
function manifestOf(name: string, nodeModules: string): Manifest | undefined {
  const file = path.join(nodeModules, name, "package.json");
  return fs.existsSync(file) ? (JSON.parse(fs.readFileSync(file, "utf8")) as Manifest) : undefined;
}

function closure(names: readonly string[], nodeModules: string): ReadonlySet<string> {
  const files = new Set<string>();
  const visit = (name: string) => {
    const manifest = name.startsWith("@types/") || files.has(name) ? undefined : manifestOf(name, nodeModules);
    if (!manifest) return;
    files.add(name);
    for (const dependency of Object.keys(manifest.dependencies ?? {})) visit(dependency);
  };
  for (const name of names) visit(name);
  return files;
}

function copyFiles(source: string, target: string, wanted: (file: string) => boolean): void {
  fs.cpSync(source, target, {
    recursive: true,
    filter: (file) => fs.statSync(file).isDirectory() || wanted(file.split(path.sep).join("/")),
  });
}
