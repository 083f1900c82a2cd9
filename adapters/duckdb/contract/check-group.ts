import * as path from "node:path";
import { inapplicability } from "../../../core/datasets/contract/applicability";
import { type ContractSample, type Measurement, samplesShown } from "../../../core/datasets/contract/report";
import type { DataContractRule } from "../../../core/datasets/contract/rules";
import type { AppliedContract } from "../../../core/datasets/contract/stored";
import {
  compareHashes,
  HashCollector,
  type HashFiles,
  type RepeatedHash,
} from "../../../core/datasets/repeated-hashes";
import type { DatasetManifest } from "../../../core/datasets/shapes";
import type { ShardGroup } from "../../../core/datasets/shard-plan";
import type { ColumnMerger } from "../../../core/features/column-state";
import type { ObjectStore } from "../../../core/ports";
import { hashSql, hashValues } from "../hash-rows";
import { quoteText } from "../session";
import { createShardSource, fetchAllShards } from "../shard-source";
import { withDuckDb } from "../workspace";
import { fetchReferences, measureDrifts, sampledVersion } from "./check";
import { compileRule } from "./compile";
import { measureRules, numbered, sampleIn, sampleSql, withGuardedDuckDb } from "./measure";

export interface GroupMeasurement extends Measurement {
  /** Hashes of the values that must be unique. */
  readonly unique?: HashFiles;
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
      const hashes = new HashCollector(rowCount);
      for await (const batch of hashValues(session, table, columns, true)) {
        for (const hash of batch) if (hash !== undefined) hashes.add(hash, 0);
      }
      settled.set(index, { columns, unique: await hashes.store(objects) });
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
    const { repeats, examples } = await compareHashes(objects, unique, samplesShown);
    const samples = await repeatedRows(shards, first.columns ?? [], examples, objects);
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

/** Reads the second row of each repeated hash. One shard at a time is on disk. */
async function repeatedRows(
  groups: readonly ShardGroup[],
  columns: readonly string[],
  examples: readonly RepeatedHash[],
  objects: Pick<ObjectStore, "getContent">,
): Promise<readonly ContractSample[]> {
  const samples: ContractSample[] = [];
  for (const index of new Set(examples.map(({ file }) => file))) {
    const { firstRow, shards } = groups[index]!;
    const left = new Map(examples.flatMap(({ hash, file, place }) => (file === index ? [[hash, place]] : [])));
    let before = firstRow;
    for (const shard of shards) {
      if (left.size === 0) break;
      await withDuckDb(async (session) => {
        const [file] = await fetchAllShards(session, objects, {
          ...{ name: "", version: 0 },
          ...shard,
          shards: [shard],
        });
        const { hash, isComplete } = hashSql(columns);
        const rows = await session.rows(
          `SELECT ${hash} AS "hash#", ${sampleSql(columns)} AS "sample#"
           FROM ${numbered(`read_parquet(${quoteText(file!)})`)}
           WHERE ${hash} IN (${[...left.keys()].join(", ")}) AND ${isComplete} ORDER BY " row"`,
        );
        for (const row of rows) {
          const found = row["hash#"] as bigint;
          const place = left.get(found);
          if (place === undefined) continue;
          left.set(found, place - 1);
          if (place > 1) continue;
          left.delete(found);
          const sample = sampleIn(row["sample#"]!, columns);
          samples.push({ ...sample, row: sample.row + before });
        }
      });
      before += shard.rows;
    }
  }
  return samples.toSorted((one, other) => one.row - other.row);
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
