import * as fs from "node:fs";
import * as path from "node:path";
import { inapplicability } from "../../../core/datasets/contract/applicability";
import { type ContractSample, type Measurement, samplesShown } from "../../../core/datasets/contract/report";
import type { DataContractRule } from "../../../core/datasets/contract/rules";
import type { AppliedContract } from "../../../core/datasets/contract/stored";
import type { DatasetManifest } from "../../../core/datasets/shapes";
import type { ShardGroup } from "../../../core/datasets/shard-plan";
import type { ColumnMerger } from "../../../core/features/column-state";
import type { ObjectStore } from "../../../core/ports";
import type { ContentReference } from "../../../core/shapes";
import { countRepeats, writeHashes } from "../repeated-rows";
import { quoteText } from "../session";
import { createShardSource, fetchFiles } from "../shard-source";
import { withDuckDb } from "../workspace";
import { fetchReferences, measureDrifts, sampledVersion } from "./check";
import { compileRule } from "./compile";
import { measureRules, numbered, sampleIn, sampleSql, withGuardedDuckDb } from "./measure";

export interface GroupMeasurement extends Measurement {
  readonly unique?: ContentReference;
}

/**
 * Measures a contract's rules on one group of a version's rows. Statistics are not measured here: they follow from the
 * profile's states. Drift is measured with the first group, on as many shards as a group has.
 *
 * @param files the group's shards on the local disk
 */
export function measureGroup(
  manifest: DatasetManifest,
  group: ShardGroup,
  files: readonly string[],
  { record: { contract }, others }: AppliedContract,
  objects: ObjectStore,
): Promise<readonly GroupMeasurement[]> {
  const { schema, rowCount } = manifest;
  return withGuardedDuckDb([...new Set(files.map((file) => path.dirname(file)))], async (session) => {
    const table = `read_parquet([${files.map(quoteText).join(", ")}])`;
    const settled = new Map<number, GroupMeasurement>();
    const references = await fetchReferences(session, contract, { schema }, others, objects, settled);
    if (group.index === 0) {
      const sampled = sampledVersion(manifest);
      const current = { schema, rowCount: sampled.rowCount, rows: createShardSource(session, objects, sampled) };
      await measureDrifts(session, contract, current, others, objects, settled);
    }
    for (const [index, rule] of contract.rules.entries()) {
      if (settled.has(index) || inapplicability(rule, schema) !== undefined) continue;
      if (rule.rule === "drift" || rule.rule === "statistic") settled.set(index, {});
      if (rule.rule !== "unique") continue;
      const compiled = compileRule(rule, index, schema, rowCount);
      const columns = compiled.kind === "none" ? [] : compiled.columns;
      const hashes = await writeHashes(session, table, columns, { firstRow: group.firstRow, complete: true });
      settled.set(index, { columns, unique: await objects.putContent(fs.readFileSync(hashes)) });
    }
    const input = { table, schema, rowCount, rules: contract.rules, references, settled };
    const measured: readonly GroupMeasurement[] = await measureRules(session, input);
    return measured.map(({ samples, ...rest }) => ({
      ...rest,
      ...(samples ? { samples: samples.map((one) => ({ ...one, row: one.row + group.firstRow })) } : {}),
    }));
  });
}

/**
 * Merges the measurements of a rule on all groups.
 *
 * @param shards the groups' shards, in the order of the measurements
 */
export async function mergeMeasurements(
  rule: DataContractRule,
  groups: readonly GroupMeasurement[],
  column: ColumnMerger | undefined,
  { objects, shards }: { readonly objects: Pick<ObjectStore, "getContent">; readonly shards: readonly ShardGroup[] },
): Promise<Measurement> {
  const problem = groups.find((one) => one.problem !== undefined)?.problem;
  if (problem !== undefined) return { problem };
  const unique = groups.flatMap((one) => one.unique ?? []);
  const [first = {}] = groups;
  const columns = first.columns ? { columns: first.columns } : {};
  if (unique.length > 0) {
    const { repeats, examples } = await withDuckDb(async (session) =>
      countRepeats(session, await fetchFiles(session, objects, unique), samplesShown),
    );
    const samples = await samplesAt(examples, first.columns ?? [], shards, objects);
    return { ...columns, rows: repeats, ...(samples.length > 0 ? { samples } : {}) };
  }
  if (rule.rule === "statistic") return statisticOf(rule, column);
  if (rule.rule === "freshness") {
    const times = groups.flatMap(({ measured }) => (typeof measured === "string" ? [measured] : [])).sort();
    return times.length === 0 ? {} : { measured: times.at(-1)! };
  }
  if (first.rows === undefined) return first;
  const samples = groups.flatMap((one) => one.samples ?? []).slice(0, samplesShown);
  const rows = groups.reduce((sum, one) => sum + (one.rows ?? 0), 0);
  return { ...columns, rows, ...(samples.length > 0 ? { samples } : {}) };
}

/** Reads rows by their numbers. One shard at a time is on disk. */
async function samplesAt(
  rows: readonly number[],
  columns: readonly string[],
  groups: readonly ShardGroup[],
  objects: Pick<ObjectStore, "getContent">,
): Promise<readonly ContractSample[]> {
  const samples: ContractSample[] = [];
  let first = 0;
  for (const shard of groups.flatMap(({ shards }) => shards)) {
    const before = first;
    first += shard.rows;
    const places = rows.filter((row) => row >= before && row < first).map((row) => row - before + 1);
    if (places.length === 0) continue;
    await withDuckDb(async (session) => {
      const [file] = await fetchFiles(session, objects, [shard]);
      const rows = await session.rows(
        `SELECT ${sampleSql(columns)} AS "sample#" FROM ${numbered(`read_parquet(${quoteText(file!)})`)}
         WHERE " row" IN (${places.join(", ")}) ORDER BY " row"`,
      );
      for (const row of rows) {
        const sample = sampleIn(row["sample#"]!, columns);
        samples.push({ ...sample, row: sample.row + before });
      }
    });
  }
  return samples;
}

function statisticOf(
  { statistic, probability = 0.5 }: Extract<DataContractRule, { readonly rule: "statistic" }>,
  column: ColumnMerger | undefined,
): Measurement {
  const profile = column?.profile();
  if (!profile) return {};
  const { count, nulls, mean, std, distinct } = profile;
  const value = {
    mean,
    std,
    distinct,
    nullShare: nulls / (count + nulls),
    quantile: statistic === "quantile" ? column?.quantiles([probability])?.[0] : undefined,
  }[statistic];
  return value === undefined ? {} : { measured: value };
}
