import fs from "node:fs";
import path from "node:path";
import { App, Stack } from "aws-cdk-lib";
import { Annotations, Match } from "aws-cdk-lib/assertions";
import { packageLayer } from "../../infra/constructs/package-layer";
import { temporaryFolder } from "../support/temporary-folder";
import { repository, unstagedAssets } from "./synthesized";

const duckdb = path.join(repository, "node_modules", "@duckdb");
const { version } = JSON.parse(fs.readFileSync(path.join(duckdb, "node-bindings", "package.json"), "utf8")) as {
  readonly version: string;
};
const folder = temporaryFolder("package-layer");
const binaries: Readonly<Record<string, string>> = {
  elf64: `${"\x7fELF\x02\x01\x01".padEnd(18, "\0")}\x3e\0`,
  arm: `${"\x7fELF\x02\x01\x01".padEnd(18, "\0")}\xb7\0`,
  macho: "\xcf\xfa\xed\xfe".padEnd(20, "\0"),
};

/** Returns the errors of the layer with DuckDB, whose native package has this version and these files. */
function errorsWith(native?: { readonly version?: string; readonly files: Readonly<Record<string, string>> }) {
  const nodeModules = fs.mkdtempSync(path.join(folder, "modules-"));
  fs.mkdirSync(path.join(nodeModules, "@duckdb"));
  for (const name of ["node-api", "node-bindings"])
    fs.cpSync(path.join(duckdb, name, "package.json"), path.join(nodeModules, "@duckdb", name, "package.json"));
  if (native) {
    const directory = path.join(nodeModules, "@duckdb", "node-bindings-linux-x64");
    fs.mkdirSync(directory);
    fs.writeFileSync(path.join(directory, "package.json"), JSON.stringify({ version: native.version ?? version }));
    for (const [file, kind] of Object.entries(native.files))
      fs.writeFileSync(path.join(directory, file), binaries[kind]!, "latin1");
  }
  const stack = new Stack(new App({ context: { ...unstagedAssets }, builtinCloudFormationValidation: false }), "Stack");
  packageLayer(stack, "duckdb", nodeModules);
  return Annotations.fromStack(stack)
    .findError("*", Match.anyValue())
    .map(({ entry }) => String(entry.data));
}

const name = "@duckdb/node-bindings-linux-x64";
const command = `Run: npm install --no-save --force --os=linux --cpu=x64 ${name}@${version}`;

it("accepts the binaries of Lambda's platform", () => {
  expect(errorsWith({ files: { "duckdb.node": "elf64", "libduckdb.so": "elf64" } })).toEqual([]);
});

it.each([
  ["is not installed", undefined, "is not installed: npm installs it on linux-x64 only"],
  ["lacks a file", { files: { "duckdb.node": "elf64" } }, "has no libduckdb.so for linux-x64"],
  [
    "was built for macOS",
    { files: { "duckdb.node": "macho", "libduckdb.so": "elf64" } },
    "has no duckdb.node for linux-x64",
  ],
  [
    "was built for ARM",
    { files: { "duckdb.node": "elf64", "libduckdb.so": "arm" } },
    "has no libduckdb.so for linux-x64",
  ],
  [
    "has another version",
    { version: "1.0.0", files: { "duckdb.node": "elf64", "libduckdb.so": "elf64" } },
    `has version 1.0.0, but must have ${version}`,
  ],
])("synthesis fails if the native package %s, with the command that installs it", (_what, native, problem) => {
  expect(errorsWith(native)).toEqual([
    `The functions that use duckdb would fail on AWS: ${name} ${problem}. ${command}`,
  ]);
});
