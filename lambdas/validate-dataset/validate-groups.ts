import { readFileSync } from "node:fs";
import { type GroupMeasurement, measureGroup, mergeMeasurements } from "../../adapters/duckdb/contract/check-group";
import { measureColumn } from "../../adapters/duckdb/group-columns";
import { countRepeats, sharesOf, writeHashes } from "../../adapters/duckdb/repeated-rows";
import { columnTypes, quoteText } from "../../adapters/duckdb/session";
import { checkShards } from "../../adapters/duckdb/shard-check";
import { fetchAllShards, fetchFiles } from "../../adapters/duckdb/shard-source";
import { classesOf, createSplits, timesOf } from "../../adapters/duckdb/splits";
import { findViolations } from "../../adapters/duckdb/violations";
import { withDuckDb } from "../../adapters/duckdb/workspace";
import { findColumn } from "../../core/datasets/contract/applicability";
import { type ContractReport, decideContract } from "../../core/datasets/contract/report";
import type { AppliedContract } from "../../core/datasets/contract/stored";
import { invalidManifest, invalidRows, type RowViolation } from "../../core/datasets/errors";
import type { Category, DatasetProfile } from "../../core/datasets/profile";
import { type DatasetManifest, type SplitName, splitNames } from "../../core/datasets/shapes";
import type { ShardGroup } from "../../core/datasets/shard-plan";
import { splitOfRange } from "../../core/datasets/split-index";
import { groupReasons, type SplitTimes, timeReasons } from "../../core/datasets/whole-split";
import { ColumnMerger, type ColumnState } from "../../core/features/column-state";
import type { ObjectStore } from "../../core/ports";
import { compareCategories } from "../../core/row-values";
import type { Rounds } from "../../core/runs/rounds";
import type { ContentReference } from "../../core/shapes";

/** Rows that a message names for each violated rule. */
const examplesShown = 3;

interface GroupState {
  readonly violations: readonly RowViolation[];
  /** Absent if rows violate the schema. */
  readonly columns?: readonly ColumnState[];
  readonly classes?: DatasetProfile["classes"];
  readonly repeats?: ContentReference;
  /** The values of the column of a split by group, in their splits. */
  readonly units?: ContentReference;
  /** The first and last time of each split, of a split by time. */
  readonly times?: readonly SplitTimes[];
  readonly contract?: readonly GroupMeasurement[];
}

interface GroupedValidation {
  readonly profile: DatasetProfile;
  /** Reasons why the splits break their rule. */
  readonly splitReasons: readonly string[];
  readonly report?: ContractReport;
}

/**
 * Validates a version of several groups of shards, each alone, and merges the results.
 *
 * @throws INVALID_DATASET_MANIFEST, INVALID_ROWS, RoundPending, TaskDone
 */
export async function validateGroups(
  manifest: DatasetManifest,
  groups: readonly ShardGroup[],
  rounds: Rounds,
  { objects, contract }: { readonly objects: ObjectStore; readonly contract?: AppliedContract | undefined },
): Promise<GroupedValidation> {
  const states = await rounds.run("validate", groups, (group) => validateGroup(manifest, group, objects, contract));
  await assertIndexesThere(manifest, objects);
  const columns = manifest.schema.map((column) => new ColumnMerger(column));
  const violations = new Map<string, RowViolation>();
  const classes = new Map<Category, Record<SplitName, number>>();
  const repeats: ContentReference[] = [];
  const units: ContentReference[] = [];
  const times: SplitTimes[] = [];
  const measured: (readonly GroupMeasurement[])[] = [];
  for await (const state of states) {
    for (const violation of state.violations) addViolation(violations, violation);
    for (const [index, column] of (state.columns ?? []).entries()) columns[index]!.add(column);
    for (const { value, rows } of state.classes ?? []) {
      const sum = classes.get(value) ?? { train: 0, validation: 0, test: 0 };
      for (const split of splitNames) sum[split] += rows[split];
      classes.set(value, sum);
    }
    if (state.repeats) repeats.push(state.repeats);
    if (state.units) units.push(state.units);
    times.push(...(state.times ?? []));
    if (state.contract) measured.push(state.contract);
  }
  if (violations.size > 0) throw invalidRows(nameOf(manifest), [...violations.values()]);
  const { name, version, digest, rowCount } = manifest;
  const { column: unit = "" } = manifest.split;
  const hasClasses = manifest.schema.some(({ role, type }) => role === "label" && type !== "float");
  const profile: DatasetProfile = {
    dataset: { name, version, digest },
    rowCount,
    exact: false,
    columns: columns.map((column) => column.profile()),
    ...(hasClasses
      ? {
          classes: [...classes]
            .map(([value, counts]) => ({ value, rows: counts }))
            .sort((a, b) => compareCategories(a.value, b.value)),
        }
      : {}),
    ...sharesOf(await repeatsOf(repeats, objects)),
  };
  return {
    profile,
    splitReasons: [
      ...timeReasons(unit, times),
      ...(units.length > 0 ? groupReasons(unit, await repeatsOf(units, objects)) : []),
    ],
    ...(contract ? { report: await reportOf(manifest, contract, measured, columns, { objects, shards: groups }) } : {}),
  };
}

async function validateGroup(
  manifest: DatasetManifest,
  group: ShardGroup,
  objects: ObjectStore,
  contract: AppliedContract | undefined,
): Promise<GroupState> {
  const { schema } = manifest;
  return withDuckDb(async (session) => {
    const files = await fetchAllShards(session, objects, { ...manifest, ...group });
    await checkShards(session, files, { ...manifest, shards: group.shards });
    const table = `read_parquet([${files.map(quoteText).join(", ")}])`;
    const { violations } = await findViolations(session, table, schema, await columnTypes(session, table));
    if (violations.length > 0) return { violations: violations.map((one) => inVersion(one, group.firstRow)) };

    await createSplits(session, await splitOfRange(manifest, objects, group.firstRow, group.rows));
    const names = schema.map(({ name }) => name);
    const storeHashes = async (of: readonly string[]): Promise<ContentReference> =>
      objects.putContent(
        readFileSync(await writeHashes(session, table, of, { splits: true, firstRow: group.firstRow })),
      );
    const columns: ColumnState[] = [];
    for (const column of schema) columns.push(await measureColumn(session, table, column));
    const classes = await classesOf(session, table, schema);
    const { by, column: name } = manifest.split;
    const unit = schema.find((column) => column.name === name);
    return {
      violations,
      columns,
      classes,
      repeats: await storeHashes(names),
      ...(by === "group" && unit ? { units: await storeHashes([unit.name]) } : {}),
      ...(by === "time" && unit ? { times: await timesOf(session, table, unit) } : {}),
      ...(contract ? { contract: await measureGroup(manifest, group, files, contract, objects) } : {}),
    };
  });
}

function repeatsOf(hashes: readonly ContentReference[], objects: ObjectStore) {
  return withDuckDb(async (session) => countRepeats(session, await fetchFiles(session, objects, hashes)));
}

/** Groups read only parts of the index files. This finds files that are damaged as a whole. */
async function assertIndexesThere(manifest: DatasetManifest, objects: ObjectStore): Promise<void> {
  const reasons: string[] = [];
  for (const split of splitNames) {
    const { sha256, bytes } = manifest.split.indexes[split];
    if (await objects.hasContent({ sha256, bytes })) continue;
    reasons.push(`the index of split ${split}, ${sha256}, is missing or damaged`);
  }
  if (reasons.length > 0) throw invalidManifest(nameOf(manifest), reasons);
}

function reportOf(
  { name, version, digest, schema, rowCount }: DatasetManifest,
  { record: { contract, revision }, at }: AppliedContract,
  measured: readonly (readonly GroupMeasurement[])[],
  columns: readonly ColumnMerger[],
  stored: Parameters<typeof mergeMeasurements>[3],
): Promise<ContractReport> {
  const merged = contract.rules.map((rule, index) => {
    const column = "column" in rule ? findColumn(schema, rule.column)?.name : undefined;
    const counts = columns[schema.findIndex((each) => each.name === column)];
    const ofRule = measured.map((group) => group[index] ?? {});
    return mergeMeasurements(rule, ofRule, counts, stored);
  });
  return Promise.all(merged).then((measurements) =>
    decideContract(contract, measurements, { dataset: { name, version, digest }, revision, at, rows: rowCount }),
  );
}

function addViolation(into: Map<string, RowViolation>, violation: RowViolation): void {
  const key = `${violation.column} ${violation.rule}`;
  const before = into.get(key);
  into.set(key, {
    ...violation,
    count: (before?.count ?? 0) + violation.count,
    examples: [...(before?.examples ?? []), ...violation.examples].slice(0, examplesShown),
  });
}

/** Numbers a group's rows within the version. Values become texts, because the state is JSON. */
function inVersion(violation: RowViolation, firstRow: number): RowViolation {
  return {
    ...violation,
    examples: violation.examples.map(({ row, value }) => ({
      row: row + firstRow,
      value: value === null || value === undefined ? value : String(value),
    })),
  };
}

function nameOf({ name, version }: DatasetManifest): string {
  return `dataset ${name}@${version}`;
}
