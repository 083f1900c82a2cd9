import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const script = join(__dirname, "..", "scripts", "structure.js");
const { importsOf, packagesOf, violationsOf } = require(script) as {
  importsOf(root: string): readonly object[];
  packagesOf(root: string): ReadonlyMap<string, readonly string[]>;
  violationsOf(imports: readonly object[], packages: ReadonlyMap<string, readonly string[]>): readonly string[];
};

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "structure-"));
});
afterEach(() => rmSync(root, { recursive: true }));

/** Writes the files of a product. @param files text by path */
function plant(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

const rules: readonly {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  readonly expected: readonly string[];
}[] = [
  {
    name: "Two files import each other, one of them a type.",
    files: { "core/a.ts": 'import { b } from "./b";', "core/b.ts": 'import type { A } from "./a";' },
    expected: ["files import each other: core/a.ts → core/b.ts → core/a.ts"],
  },
  {
    name: "A cycle of files leads over a dynamic import and an exported type.",
    files: {
      "cli/a.ts": 'const b = await import("./b");',
      "cli/b.ts": 'export type { C } from "./c/index";',
      "cli/c/index.ts": 'type A = import("../a").A;',
    },
    expected: ["files import each other: cli/a.ts → cli/b.ts → cli/c/index.ts → cli/a.ts"],
  },
  {
    name: "Two folders import each other, although no two files do.",
    files: {
      "core/runs/run.ts": 'import type {\n  Point,\n} from "../tracking/metrics/point";',
      "core/runs/job.ts": "export {};",
      "core/tracking/metrics/point.ts": "export {};",
      "core/tracking/record.ts": 'import "../runs/job";',
    },
    expected: [
      "folders import each other: core/runs → core/tracking → core/runs\n" +
        "  core/runs/run.ts imports core/tracking/metrics/point.ts\n" +
        "  core/tracking/record.ts imports core/runs/job.ts",
    ],
  },
  {
    name: "Nested folders import each other.",
    files: {
      "local/states/engine/states/wait.ts": 'import { query } from "../../query/path";',
      "local/states/engine/time.ts": "export {};",
      "local/states/query/path.ts": 'import { time } from "../engine/time";',
    },
    expected: [expect.stringMatching(/^folders import each other: local\/states\/engine → local\/states\/query →/)],
  },
  {
    name: "An import goes against the layers.",
    files: { "api/routes/runs.ts": 'import { main } from "../../lambdas/api/handler";', "lambdas/api/handler.ts": "" },
    expected: [
      "api/routes/runs.ts imports lambdas/api/handler.ts: api may import only api, core, platform, adapters, trainer-container",
    ],
  },
  {
    name: "An AWS service imports the product, or what runs the product on it.",
    files: {
      "local/iam/roles.ts": 'import { functions } from "../../platform/functions";\nimport "../../stack/stack";',
      "stack/stack.ts": 'import "../lambdas/api/handler";',
      "platform/functions.ts": "",
      "lambdas/api/handler.ts": "",
    },
    expected: [
      "local/iam/roles.ts imports platform/functions.ts: local may import only local",
      "local/iam/roles.ts imports stack/stack.ts: local may import only local",
    ],
  },
  {
    name: "A package is entered by a file that it does not export.",
    files: {
      "package.json": '{ "workspaces": ["local"] }',
      "local/package.json": '{ "exports": { ".": "./index.ts" } }',
      "local/index.ts": 'export * from "./s3/store";',
      "local/s3/store.ts": "",
      "stack/stack.ts": 'import "../local";\nimport "../local/s3/store";',
    },
    expected: ["stack/stack.ts imports local/s3/store.ts: enter local by a file that its package.json exports"],
  },
  {
    name: "A file of the product imports a test.",
    files: { "adapters/s3/store.ts": 'const fixture = require("../../test/fixture.json");' },
    expected: ["adapters/s3/store.ts imports test/fixture.json: adapters may import only adapters, core, platform"],
  },
  {
    name: "The domain imports I/O.",
    files: { "core/runs/run.ts": 'import { readFileSync } from "node:fs";\nimport { z } from "zod";' },
    expected: ["core/runs/run.ts is pure, and imports node:fs: put the I/O behind a port"],
  },
  {
    name: "An algorithm of the trainer imports TensorFlow, and a file that is not pure.",
    files: {
      "trainer-container/optimizer/adam.ts":
        'import type { Tensor } from "@tensorflow/tfjs-core";\nimport { mesh } from "../collective/mesh";',
      "trainer-container/collective/mesh.ts": 'import { Socket } from "node:net";',
    },
    expected: [
      "trainer-container/optimizer/adam.ts is pure, and imports @tensorflow/tfjs-core: put the I/O behind a port",
      "trainer-container/optimizer/adam.ts is pure, and imports trainer-container/collective/mesh.ts: put the I/O behind a port",
    ],
  },
];

describe("imports that break a rule", () => {
  it.each(rules)("$name", ({ files, expected }) => {
    plant(files);

    expect(violationsOf(importsOf(root), packagesOf(root))).toEqual(expected);
  });
});

it("A folder and its own subfolder may import each other.", () => {
  plant({
    "core/registry/model.ts": 'import { verdict } from "./gates/verdict";',
    "core/registry/gates/verdict.ts": 'import { stage } from "../stages";',
    "core/registry/transitions.ts": '/**\n * import { gone } from "./model";\n */\nexport {};',
  });

  expect(violationsOf(importsOf(root), packagesOf(root))).toEqual([]);
});

it("The command prints each violation, and fails.", () => {
  plant({ "infra/app.ts": 'import "../local/cloud";', "local/cloud.ts": "" });

  const { status, stderr } = spawnSync(process.execPath, [script, root], { encoding: "utf8" });

  expect({ status, stderr }).toEqual({
    status: 1,
    stderr:
      "infra/app.ts imports local/cloud.ts: infra may import only infra, core, platform, api, ringmaster.config\n" +
      "Imports break 1 rules of docs/adr/043-folders.md\n",
  });
});
