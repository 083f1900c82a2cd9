import { spawnSync } from "node:child_process";
import * as path from "node:path";
import { createSnapshot } from "../../adapters/duckdb/snapshot";
import { withDuckDb } from "../../adapters/duckdb/workspace";
import { parseDatasetSchema } from "../../core/datasets/schema";
import { temporaryFolder } from "../support/temporary-folder";

const python = process.env["RINGMASTER_PEERS_PYTHON"] || "python3";
const probe = spawnSync(python, ["-c", "import pyarrow; print(pyarrow.__version__)"], { encoding: "utf8" });
const title =
  probe.status === 0
    ? `PyArrow ${probe.stdout.trim()}`
    : `PyArrow (skipped: ${python} cannot import pyarrow; name a Python that can in RINGMASTER_PEERS_PYTHON)`;

const schema = parseDatasetSchema(`
columns:
  - { name: i8, type: int, nullable: true }
  - { name: u64, type: string }
  - { name: i64, type: string }
  - { name: f32text, type: string }
  - { name: f32, type: float }
  - { name: f64, type: float, nullable: true }
  - { name: yes, type: bool, nullable: true }
  - { name: word, type: string, nullable: true }
  - { name: large, type: string }
  - { name: colour, type: string, nullable: true }
  - { name: day, type: timestamp }
  - { name: at, type: timestamp }
  - { name: seconds, type: timestamp }
  - { name: nanos, type: timestamp }
  - { name: price, type: string }
  - { name: pair, type: tensor, shape: [2], nullable: true }
  - { name: grid, type: tensor, shape: [2, 2] }
  - { name: none, type: string, nullable: true }
  - { name: y, type: int, role: label }
`);

(probe.status === 0 ? describe : describe.skip)(title, () => {
  const folder = temporaryFolder("arrow");
  beforeAll(() => {
    const { status, stderr } = spawnSync(python, [path.join(__dirname, "arrow-files.py"), folder], {
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([0, ""]);
  });

  const digestOf = (name: string): Promise<string> =>
    withDuckDb(async (session) => {
      const { draft, ignoredColumns } = await createSnapshot(session, {
        name: "toy",
        file: `${folder}/${name}`,
        schema,
      });
      expect(ignoredColumns).toEqual(["other"]);
      return draft.digest;
    });

  it.each(["uncompressed.feather", "lz4.feather", "zstd.feather", "stream.arrows", "file.arrow"])(
    "gives the same version from %s as from its Parquet file",
    async (name) => expect(await digestOf(name)).toBe(await digestOf("rows.parquet")),
  );
});
