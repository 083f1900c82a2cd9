import * as fs from "node:fs";
import * as path from "node:path";
import { openDuckDb } from "../../adapters/duckdb/session";
import { createSnapshot } from "../../adapters/duckdb/snapshot";
import type { ContractReport, ValidationOutput } from "../../core/datasets/contract/report";
import { parseDataContract } from "../../core/datasets/contract/rules";
import type { AppliedContract } from "../../core/datasets/contract/stored";
import type { DatasetProfile } from "../../core/datasets/profile";
import { parseDatasetSchema } from "../../core/datasets/schema";
import { type DatasetManifest, splitNames } from "../../core/datasets/shapes";
import { shardGroups } from "../../core/datasets/shard-plan";
import { mulberry32 } from "../../core/datasets/split";
import { readSplits, splitOfRange } from "../../core/datasets/split-index";
import { decodeFeatureShard } from "../../core/features/encoding";
import type { FeatureManifest } from "../../core/features/shapes";
import { objectKeys } from "../../core/object-keys";
import { jobSchema } from "../../core/runs/job";
import { RoundPending, type RoundTask, TaskDone } from "../../core/runs/rounds";
import { prepareFeatures } from "../../lambdas/prepare-features/handler";
import { validateDataset } from "../../lambdas/validate-dataset/validate";
import { createMemoryObjectStore, type MemoryObjectStore } from "../adapters/s3/memory-object-store";
import { temporaryFolder } from "../support/temporary-folder";

/* Steps in rounds, on versions of a few small shards: the merged result is that of the whole version. */

const schema = `
columns:
  - {name: x, type: float, nullable: true}
  - {name: n, type: int}
  - {name: image, type: tensor, shape: [2]}
  - {name: day, type: timestamp}
  - {name: c, type: string, nullable: true}
  - {name: city, type: string, role: slice}
  - {name: y, type: bool, role: label}
`;
const count = 3_000;
const lines = Array.from({ length: count }, (_, i) =>
  [
    i % 10 === 0 ? "" : Math.sin(i) * 1e3,
    (i * 7919) % 20_011,
    `"[${i / 7}, 1]"`,
    new Date(Date.UTC(2024, 0, 1) + i * 3_600_000).toISOString(),
    i % 13 === 0 ? "" : "abcd"[(i * 5) % 4],
    ["Rome", "Oslo", "Bern"][i % 3],
    i % 2 === 0,
  ].join(","),
);

const directory = temporaryFolder("rounds");

let objects: MemoryObjectStore;
/** The versions of `lines`, by their splits. */
const pushed = new Map<string, readonly [DatasetManifest, ReadonlyMap<string, Uint8Array>]>();

async function push(rows: readonly string[], split = ""): Promise<DatasetManifest> {
  objects = createMemoryObjectStore();
  if (rows !== lines) return pushNew(rows, split);
  const [manifest, stored] = pushed.get(split) ?? [await pushNew(rows, split), new Map(objects.objects)];
  pushed.set(split, [manifest, stored]);
  for (const [key, bytes] of stored) objects.objects.set(key, bytes);
  return manifest;
}

async function pushNew(rows: readonly string[], split: string): Promise<DatasetManifest> {
  const file = path.join(directory, "rows.csv");
  fs.writeFileSync(file, `x,n,image,day,c,city,y\n${rows.join("\n")}\n`);
  const session = await openDuckDb(fs.mkdtempSync(path.join(directory, "duckdb-")));
  try {
    const parsed = parseDatasetSchema(`${schema}${split}`);
    const { draft, shards, indexes } = await createSnapshot(session, {
      ...{ name: "toy", file, schema: parsed, shardBytes: 9_000 },
    });
    for (const shard of shards) await objects.putContent(fs.readFileSync(shard.path));
    for (const index of indexes.values()) await objects.putContent(index);
    return { ...draft, version: 1, createdAt: "2026-01-01T00:00:00.000Z" };
  } finally {
    session.close();
  }
}

const groupBytes = 25_000;
type Step<Output> = (task?: RoundTask) => Promise<Output>;

/** Runs a step as the state machine does. `each` runs the tasks of a round. */
async function inRounds<Output>(
  step: Step<Output>,
  each = async (tasks: readonly RoundTask[]) => {
    for (const task of tasks) await runTask(step, task);
  },
): Promise<{ readonly output: Output; readonly rounds: readonly number[] }> {
  const rounds: number[] = [];
  for (;;) {
    try {
      return { output: await step(), rounds };
    } catch (error) {
      if (!(error instanceof RoundPending)) throw error;
      const { round, parts } = error;
      rounds.push(parts);
      await each(Array.from({ length: parts }, (_, part) => ({ round, part })));
    }
  }
}

async function runTask(step: Step<unknown>, task: RoundTask): Promise<void> {
  await expect(step(task)).rejects.toThrow(TaskDone);
}

async function json<T>(sha256: string): Promise<T> {
  return JSON.parse(Buffer.from(await objects.getContent(sha256)).toString()) as T;
}
const profileOf = ({ profile }: ValidationOutput) => json<DatasetProfile>(profile.sha256);
const validation =
  (manifest: DatasetManifest, contract?: AppliedContract): Step<ValidationOutput> =>
  (task) =>
    validateDataset({ ...{ manifest, objects, contract, inputHash: "f00", task, groupBytes } });

/** Rounds numbers, because sums of parts differ in the last bits. */
const rounded = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_key, each) => (typeof each === "number" ? Number(each.toPrecision(10)) : each)));

describe("the groups of a version", () => {
  it("have all shards in order, about the same bytes, and are one if they fit", async () => {
    const shards = Array.from({ length: 23 }, (_, i) => ({ sha256: String(i), bytes: 100 + (i % 5), rows: 7 }));
    const groups = shardGroups({ shards }, 500);
    expect(groups.flatMap((group) => group.shards)).toEqual(shards);
    expect(groups.map(({ firstRow, rows }) => [firstRow, rows])).toEqual(
      groups.map((group, i) => [groups.slice(0, i).reduce((sum, { rows }) => sum + rows, 0), 7 * group.shards.length]),
    );
    expect(Math.max(...groups.map(({ bytes }) => bytes))).toBeLessThan(620);
    expect(shardGroups({ shards })).toHaveLength(1);
    expect(shardGroups({ shards: [] })).toEqual([]);
  });

  it("read their splits from parts of the index files", async () => {
    const manifest = await push(lines);
    const whole = await readSplits(manifest, objects);
    const groups = shardGroups(manifest, groupBytes);
    expect(groups.length).toBeGreaterThan(2);
    for (const { firstRow, rows } of groups) {
      const own = await splitOfRange(manifest, objects, firstRow, rows);
      expect(Buffer.compare(Buffer.from(own), Buffer.from(whole.subarray(firstRow, firstRow + rows)))).toBe(0);
    }
    const key = objectKeys.content(manifest.split.indexes.train.sha256);
    const damaged = objects.objects.get(key)!.slice();
    damaged[4_000] = damaged[4_000]! ^ 1;
    objects.objects.set(key, damaged);
    const reads = groups.map(({ firstRow, rows }) => splitOfRange(manifest, objects, firstRow, rows));
    const failed = (await Promise.allSettled(reads)).filter(({ status }) => status === "rejected");
    expect(failed).toHaveLength(1);
  });
});

describe("a validation in rounds", () => {
  it("finds what a validation of the whole version finds", async () => {
    const repeated = [...lines, ...lines.slice(100, 300), ...lines.slice(0, 80)];
    const manifest = await push(repeated);
    const whole = await validateDataset({ manifest, objects, inputHash: "f00" });
    const { output, rounds } = await inRounds(validation(manifest));
    expect(rounds).toEqual([shardGroups(manifest, groupBytes).length]);
    expect(output.warnings).toEqual(whole.warnings);
    expect(output.warnings.map(({ code }) => code)).toContain("DUPLICATE_ROWS");
    const [expected, found] = [await profileOf(whole), await profileOf(output)];
    const { columns, ...rest } = found;
    expect(rounded(rest)).toEqual(rounded({ ...expected, columns: undefined, exact: false }));
    for (const [index, column] of columns.entries()) {
      const { distinct, quantiles, ...exact } = column;
      const { distinct: values, quantiles: sharp, ...other } = expected.columns[index]!;
      expect(rounded(exact)).toEqual(rounded(other));
      if (values !== undefined) expect(Math.abs(distinct! - values)).toBeLessThanOrEqual(0.1 * values);
      for (const [i, value] of (quantiles ?? []).entries()) {
        expect(Math.abs(value - sharp![i]!)).toBeLessThanOrEqual(Math.abs(sharp![i]!) * 2 ** -9 + 1e-9);
      }
    }
    // The results of its parts are no longer needed.
    const left = [...objects.objects].filter(([key]) => key.startsWith("rounds/"));
    expect(left.map(([, bytes]) => bytes.length)).toEqual(left.map(() => 2));
  });

  it("measures a data contract's rules as on the whole version", async () => {
    const manifest = await push([...lines, lines[5]!, lines[2_900]!]);
    const rules = `
rules:
  - {rule: notNull, column: x, severity: warn}
  - {rule: range, column: x, minimum: -990, severity: warn}
  - {rule: unique, columns: [n], severity: warn}
  - {rule: unique, columns: [n, day], severity: warn}
  - {rule: rowCount, minimum: 5000, severity: warn}
  - {rule: expression, expression: x < n, severity: warn}
  - {rule: statistic, column: x, statistic: mean, minimum: 5, severity: warn}
  - {rule: statistic, column: c, statistic: nullShare, maximum: 0.01, severity: warn}
  - {rule: statistic, column: n, statistic: quantile, probability: 0.5, maximum: 1, severity: warn}
  - {rule: statistic, column: c, statistic: distinct, maximum: 3, severity: warn}
  - {rule: freshness, column: day, maxAge: 1d, severity: warn}
  - {rule: type, column: n, type: int}
`;
    const contract = {
      record: { contract: parseDataContract(rules), revision: 1 },
      others: new Map(),
      at: "2026-01-01T00:00:00.000Z",
    } as unknown as AppliedContract;
    const whole = await validateDataset({ manifest, objects, inputHash: "f00", contract });
    const { output } = await inRounds(validation(manifest, contract));
    const [expected, found] = await Promise.all(
      [whole, output].map(({ contract: summary }) => json<ContractReport>(summary!.report.sha256)),
    );
    expect(rounded(found!)).toEqual(rounded(expected!));
    const repeated = found!.outcomes.filter(({ rule }) => rule === "unique");
    expect(repeated.map(({ samples }) => samples.map(({ row }) => row))).toEqual([
      [lines.length + 1, lines.length + 2],
      [lines.length + 1, lines.length + 2],
    ]);
    expect(found!.outcomes.map(({ status }) => status)).toEqual([...Array(11).fill("violated"), "passed"]);
  });

  it.each(["group", "time"])("checks that a split by %s keeps its rule", async (by) => {
    const column = by === "group" ? "n" : "day";
    const manifest = await push(lines, `split: {by: ${by}, column: ${column}}`);
    await inRounds(validation(manifest));
    const { train, test } = manifest.split.indexes;
    const mixed = { ...manifest, split: { ...manifest.split, by: by as "group", column } };
    const fair = await push(lines);
    const claimed = { ...mixed, split: { ...mixed.split, indexes: fair.split.indexes }, shards: fair.shards };
    expect([train.sha256, test.sha256]).not.toContain(fair.split.indexes.train.sha256);
    const grouped = by === "group" ? { ...claimed, split: { ...claimed.split, column: "city" } } : claimed;
    await expect(inRounds(validation(grouped))).rejects.toThrow(`the split is by ${by}`);
  });

  it("reports the rows that break the schema, numbered within the version", async () => {
    const manifest = await push(lines);
    const strict = manifest.schema.map((column) => (column.name === "n" ? { ...column, maximum: 19_900 } : column));
    const claimed = { ...manifest, schema: strict };
    const whole = validateDataset({ manifest: claimed, objects, inputHash: "f00" });
    const message = await whole.then(String, (error: Error) => error.message);
    expect(message).toContain("column n, row");
    await expect(inRounds(validation(claimed))).rejects.toMatchObject({ code: "INVALID_ROWS", message });
  });

  it("passes on the error of a part, which the next run tries again", async () => {
    const manifest = await push(lines);
    const key = objectKeys.content(manifest.shards.at(-1)!.sha256);
    const intact = objects.objects.get(key)!;
    objects.objects.set(key, new Uint8Array(9));
    await expect(inRounds(validation(manifest))).rejects.toMatchObject({
      code: "CORRUPT_OBJECT",
      message: expect.stringContaining(manifest.shards.at(-1)!.sha256),
    });
    objects.objects.set(key, intact);
    await inRounds(validation(manifest));
  });

  it("finds a missing index file", async () => {
    const manifest = await push(lines);
    await expect(
      inRounds(validation(manifest), async (tasks) => {
        for (const task of tasks) await runTask(validation(manifest), task);
        objects.objects.delete(objectKeys.content(manifest.split.indexes.test.sha256));
      }),
    ).rejects.toThrow(/the index of split test, [0-9a-f]{64}, is missing or damaged/);
  });
});

describe("features in rounds", () => {
  const plan = jobSchema.shape.features.parse({
    plan: [
      { kind: "standardize", column: "x" },
      { kind: "robust", column: "n" },
      { kind: "one-hot", column: "c" },
      { kind: "target", column: "c", target: "y", foldBy: "n" },
    ],
  });
  const preparation =
    (manifest: DatasetManifest, features: object, inputHash: string, size?: number): Step<FeatureManifest> =>
    async (task) => {
      const job = { features, evaluation: { slices: [] } } as unknown as Parameters<typeof prepareFeatures>[0]["job"];
      const made = await prepareFeatures({
        ...{ manifest, job, objects, inputHash, task, shardBytes: 4_000 },
        ...(size === undefined ? {} : { groupBytes: size }),
      });
      return JSON.parse(Buffer.from(await objects.get(made.featureManifestKey)).toString()) as FeatureManifest;
    };
  const rowsOf = async (features: FeatureManifest) => {
    const rows: number[][] = [];
    for (const split of splitNames) {
      for (const { sha256 } of features.splits[split].shards) {
        const view = decodeFeatureShard(await objects.getContent(sha256), features);
        for (let row = 0; row < view.rows; row += 1) {
          const dense = new Float32Array(features.transform.width);
          view.writeRow(row, dense, 0);
          rows.push([...dense, view.labelAt(row)]);
        }
      }
    }
    return rows;
  };

  it.each([
    ["of the columns' types", { standardize: true }, 2],
    ["of a plan", plan, 3],
  ])("%s are those of the whole version", async (_case, settings, expectedRounds) => {
    const manifest = await push(lines);
    const whole = await preparation(manifest, settings, "whole")();
    const { output, rounds } = await inRounds(preparation(manifest, settings, "parts", groupBytes));
    expect(rounds).toHaveLength(expectedRounds);
    expect(rounded(output.transform)).toEqual(rounded(whole.transform));
    expect([output.label, output.slices]).toEqual([whole.label, whole.slices]);
    const [expected, found] = [await rowsOf(whole), await rowsOf(output)];
    expect(found).toHaveLength(expected.length);
    const worst = Math.max(...found.map((row, i) => Math.max(...row.map((v, j) => Math.abs(v - expected[i]![j]!)))));
    expect(worst).toBeLessThan(1e-5);
  });

  it("have the same bytes in any order of the tasks, with repetitions, at the same time, and after deaths", async () => {
    const manifest = await push(lines.slice(0, 1_200));
    const { output: expected } = await inRounds(preparation(manifest, plan, "f00", groupBytes));
    const random = mulberry32(1);
    objects.objects.delete(objectKeys.featureManifest("f00"));
    const step = preparation(manifest, plan, "f00", groupBytes);
    const { put } = objects;
    const mutable = objects as { -readonly [Key in keyof MemoryObjectStore]: MemoryObjectStore[Key] };
    // Some tasks die before they have stored their result.
    mutable.put = async (key, ...rest) => {
      if (key.startsWith("rounds/") && random() < 0.2) throw new Error("killed");
      return put(key, ...rest);
    };
    const attempt = async (task: RoundTask): Promise<void> => {
      for (;;) {
        const end = await step(task).catch((error: unknown) => error);
        if ((end as Error).message !== "killed") return;
      }
    };
    try {
      const { output } = await inRounds(
        async (task) => {
          for (;;) {
            try {
              return await step(task);
            } catch (error) {
              if ((error as Error).message !== "killed") throw error;
            }
          }
        },
        async (tasks) => {
          const some = [...tasks, ...tasks.filter(() => random() < 0.5)].sort(() => random() - 0.5);
          while (some.length > 0) await Promise.all(some.splice(0, 1 + Math.floor(random() * 3)).map(attempt));
        },
      );
      expect(output).toEqual(expected);
    } finally {
      mutable.put = put;
    }
  });
});
