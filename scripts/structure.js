/**
 * Checks the imports between files of the product (docs/adr/043-folders.md). Imports of types count.
 *
 *   node scripts/structure.js [root]
 *
 * Exits with 1 if it finds a cycle of files, a cycle of folders, an import against the layers or an impure import.
 */
const fs = require("node:fs");
const path = require("node:path");

/** Folders of the product, and which other folders and files each may import. */
const layers = {
  core: [],
  platform: ["core"],
  adapters: ["core", "platform"],
  api: ["core", "platform", "adapters", "trainer-container"],
  lambdas: ["core", "platform", "adapters", "trainer-container", "api"],
  "trainer-container": ["core", "platform", "adapters"],
  /** Models, losses and gradients. It knows nothing of gangs, checkpoints and data. */
  "trainer-container/engine": [
    "core",
    "adapters",
    "trainer-container/kernels",
    "trainer-container/optimizer",
    "trainer-container/reduction",
    "trainer-container/tfjs",
    "trainer-container/wasm",
  ],
  infra: ["core", "platform", "api", "ringmaster.config"],
  /** The AWS services. */
  local: [],
  /** The platform on the services: provisioning, roles, the API server. */
  stack: ["local", "core", "platform", "adapters", "api", "lambdas"],
  client: ["core", "platform", "api"],
  cli: ["core", "platform", "adapters", "trainer-container", "api", "client", "package.json"],
  bench: [
    "core",
    "platform",
    "adapters",
    "api",
    "lambdas",
    "trainer-container",
    "local",
    "stack",
    "client",
    "cli",
    "test",
  ],
};

/** Files and folders without I/O. They may import only each other and `purePackages`. */
const pure = [
  "adapters/files/checked-document.ts",
  "adapters/metric-log/",
  "adapters/saved-model/",
  "trainer-container/tfjs/layers/sequence-constants.ts",
  "api/compare/",
  "api/export/",
  "api/lineage/",
  "api/pages/comparison/param-strength.ts",
  "api/pages/study-importance.ts",
  "api/report/",
  "api/reproduction/",
  "api/schemas/",
  "api/services/next-steps.ts",
  "api/services/registered-source.ts",
  "cli/datasets/suggest-contract.ts",
  "cli/job-file.ts",
  "core/",
  "platform/",
  "trainer-container/checkpoint/policy.ts",
  "trainer-container/collective/frame.ts",
  "trainer-container/collective/halving-receives.ts",
  "trainer-container/collective/segments.ts",
  "trainer-container/collective/timing.ts",
  "trainer-container/data/row-order.ts",
  "trainer-container/data/sampler.ts",
  "trainer-container/engine/engine.ts",
  "trainer-container/gang/decide.ts",
  "trainer-container/gang/lease-observer.ts",
  "trainer-container/gang/members.ts",
  "trainer-container/gang/store.ts",
  "trainer-container/gang/timing.ts",
  "trainer-container/loop/errors.ts",
  "trainer-container/loop/plan.ts",
  "trainer-container/loop/score.ts",
  "trainer-container/optimizer/",
  "trainer-container/reduction/",
  "trainer-container/sharding/",
];
const purePackages = ["croner", "jsonata", "node:crypto", "node:zlib", "yaml", "zod"];

const isPure = (file) => pure.some((entry) => (entry.endsWith("/") ? file.startsWith(entry) : file === entry));

/** Matches the specifier of `import … from`, `export … from`, `import "…"`, `import("…")` and `require("…")`. */
const specifiers = /\b(?:from|import|require(?:\.resolve)?)\s*\(?\s*["']([^"'\n]+)["']/g;
const commentLines = /^\s*(?:\/\*|\*|\/\/).*$/gm;

/** Returns the files of the product, relative to the root. */
function filesOf(root) {
  const found = [];
  const walk = (folder) => {
    for (const entry of fs.readdirSync(path.join(root, folder), { withFileTypes: true })) {
      const name = `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!["node_modules", "dist", "cdk.out"].includes(entry.name)) walk(name);
      } else if (/\.tsx?$/.test(entry.name)) found.push(name);
    }
  };
  for (const folder of Object.keys(layers).filter((name) => !name.includes("/")))
    if (fs.existsSync(path.join(root, folder))) walk(folder);
  return found.sort();
}

/** Returns the imports of each file: `target` is a path relative to the root, or the name of a package. */
function importsOf(root) {
  const files = filesOf(root);
  const known = new Set(files);
  const imports = [];
  for (const file of files) {
    const text = fs.readFileSync(path.join(root, file), "utf8").replace(commentLines, "");
    for (const [, specifier] of text.matchAll(specifiers)) {
      if (!specifier.startsWith(".")) imports.push({ file, target: specifier, isPackage: true });
      else {
        const base = path.posix.join(path.posix.dirname(file), specifier).replace(/\/$/, "");
        const target = [base, `${base}.ts`, `${base}.tsx`, `${base}/index.ts`].find((each) => known.has(each)) ?? base;
        imports.push({ file, target, isPackage: false });
      }
    }
  }
  return imports;
}

/** Returns a cycle for each back edge of a depth-first search; none if the graph has no cycle. */
function cyclesOf(graph) {
  const cycles = [];
  const finished = new Set();
  const route = [];
  const visit = (node) => {
    if (finished.has(node)) return;
    const start = route.indexOf(node);
    if (start >= 0) {
      cycles.push([...route.slice(start), node]);
      return;
    }
    route.push(node);
    for (const next of graph.get(node) ?? []) visit(next);
    route.pop();
    finished.add(node);
  };
  for (const node of graph.keys()) visit(node);
  return cycles;
}

/**
 * Returns the two folders at which the paths of an import part; `undefined` if one file's folder contains the other's.
 * Two folders of any depth import each other only if the folders at which their paths part do, too.
 */
function partingFolders({ file, target }) {
  const [from, to] = [file, target].map((each) => path.posix.dirname(each).split("/"));
  const depth = from.findIndex((name, at) => name !== to[at]);
  if (depth < 0 || to[depth] === undefined) return undefined;
  return [from, to].map((each) => each.slice(0, depth + 1).join("/"));
}

/** Returns the entry files of each npm workspace by its folder: the files that `exports` of its `package.json` names. */
function packagesOf(root) {
  const packages = new Map();
  const { workspaces = [] } = readPackage(root);
  for (const folder of workspaces) {
    const entries = Object.values(readPackage(path.join(root, folder)).exports ?? {});
    packages.set(
      folder,
      entries.map((entry) => path.posix.join(folder, entry)),
    );
  }
  return packages;
}

function readPackage(folder) {
  const file = path.join(folder, "package.json");
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, "utf8")) : {};
}

function layerOf(file) {
  const names = file.split("/");
  return Object.hasOwn(layers, `${names[0]}/${names[1]}`) ? `${names[0]}/${names[1]}` : names[0];
}

/** Returns a line for each violation. @param packages see `packagesOf` */
function violationsOf(imports, packages) {
  const problems = [];
  const files = new Map();
  const folders = new Map();
  const examples = new Map();
  const add = (graph, from, to) => graph.set(from, (graph.get(from) ?? new Set()).add(to));

  for (const one of imports) {
    const { file, target, isPackage } = one;
    if (isPure(file) && !(isPackage ? purePackages.includes(target) : isPure(target))) {
      problems.push(`${file} is pure, and imports ${target}: put the I/O behind a port`);
    }
    if (isPackage) continue;
    const [layer, other] = [file, target].map(layerOf);
    if (layer === "cli" && other === "api" && !target.startsWith("api/schemas/")) {
      problems.push(`${file} imports ${target}: the command line sees the API by its client and its schemas`);
    }
    if (![layer, ...layers[layer]].some((each) => target === each || target.startsWith(`${each}/`))) {
      problems.push(`${file} imports ${target}: ${layer} may import only ${[layer, ...layers[layer]].join(", ")}`);
      continue;
    }
    for (const [folder, entries] of packages) {
      const enters = target.startsWith(`${folder}/`) && !file.startsWith(`${folder}/`) && layer !== "bench";
      if (enters && !entries.includes(target)) {
        problems.push(`${file} imports ${target}: enter ${folder} by a file that its package.json exports`);
      }
    }
    add(files, file, target);
    const parting = partingFolders(one);
    if (parting === undefined) continue;
    add(folders, ...parting);
    if (!examples.has(parting.join())) examples.set(parting.join(), `  ${file} imports ${target}`);
  }
  for (const cycle of cyclesOf(files)) problems.push(`files import each other: ${cycle.join(" → ")}`);
  for (const cycle of cyclesOf(folders)) {
    const shown = cycle.slice(1).map((folder, at) => examples.get([cycle[at], folder].join()));
    problems.push([`folders import each other: ${cycle.join(" → ")}`, ...shown].join("\n"));
  }
  return problems;
}

function main() {
  const root = process.argv[2] ?? path.join(__dirname, "..");
  const problems = violationsOf(importsOf(root), packagesOf(root));
  for (const problem of problems) console.error(problem);
  if (problems.length === 0) return;
  console.error(`Imports break ${problems.length} rules of docs/adr/043-folders.md`);
  process.exitCode = 1;
}

module.exports = { importsOf, packagesOf, violationsOf };
if (require.main === module) main();
