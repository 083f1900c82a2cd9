import * as path from "node:path";
import { inapplicability } from "../../../core/datasets/contract/applicability";
import type { OtherVersions } from "../../../core/datasets/contract/others";
import { type ContractReport, decideContract, type Measurement } from "../../../core/datasets/contract/report";
import type { DataContract, RuleOf } from "../../../core/datasets/contract/rules";
import type { ColumnSchema, DatasetManifest } from "../../../core/datasets/shapes";
import { groupBytes } from "../../../core/datasets/shard-plan";
import { measureDrift } from "../../../core/drift/measure";
import { defaultThresholds } from "../../../core/drift/shapes";
import type { RowSource } from "../../../core/features/values";
import type { ObjectStore } from "../../../core/ports";
import { readColumns } from "../row-reader";
import { type DuckDbSession, quoteText } from "../session";
import { createShardSource, fetchAllShards } from "../shard-source";
import { measureRules, type ReferencedColumns, withGuardedDuckDb } from "./measure";

export interface CheckedRows {
  readonly schema: readonly ColumnSchema[];
  readonly rowCount: number;
  /** Canonical Parquet files, in row order. */
  readonly files: readonly string[];
}

/**
 * Checks a contract against the rows of a version, or of a file that will become one. All rules are measured, and all
 * violations are reported.
 */
export function checkContract(
  contract: DataContract,
  rows: CheckedRows,
  context: {
    readonly dataset: ContractReport["dataset"];
    readonly revision?: number | undefined;
    /** The time to which ages refer. ISO 8601. */
    readonly at: string;
    readonly others: OtherVersions;
    readonly objects: Pick<ObjectStore, "getContent">;
  },
): Promise<ContractReport> {
  const { others, objects, ...decided } = context;
  return withGuardedDuckDb([...new Set(rows.files.map((file) => path.dirname(file)))], async (session) => {
    const table = `read_parquet([${rows.files.map(quoteText).join(", ")}])`;
    const settled = new Map<number, Measurement>();
    const references = await fetchReferences(session, contract, rows, others, objects, settled);
    const source: RowSource = { read: (columns) => readColumns(session, table, columns) };
    await measureDrifts(session, contract, { ...rows, rows: source }, others, objects, settled);
    const { schema, rowCount } = rows;
    const input = { table, schema, rowCount, rules: contract.rules, references, settled };
    return decideContract(contract, await measureRules(session, input), { ...decided, rows: rowCount });
  });
}

/** Fetches the other versions to which rules refer. Rules whose reference cannot be used are settled. */
export async function fetchReferences(
  session: DuckDbSession,
  { rules }: DataContract,
  { schema }: Pick<CheckedRows, "schema">,
  others: OtherVersions,
  objects: Pick<ObjectStore, "getContent">,
  settled: Map<number, Measurement>,
): Promise<ReferencedColumns> {
  const references = new Map<number, { readonly table: string; readonly column: string }>();
  for (const [index, rule] of rules.entries()) {
    if (rule.rule !== "reference" || inapplicability(rule, schema) !== undefined) continue;
    const other = others.get(index) ?? { problem: "the other dataset was not looked up" };
    const { column } = rule.references;
    if (other === "none" || "problem" in other) {
      settled.set(index, {
        problem: other === "none" ? `there is no dataset ${rule.references.dataset}` : other.problem,
      });
      continue;
    }
    const type = schema.find(({ name }) => name === rule.column)!.type;
    const target = other.schema.find(({ name }) => name === column);
    const named = `${other.name}@${other.version}`;
    if (!target) settled.set(index, { problem: `${named} has no column ${column}` });
    else if (target.type !== type) {
      settled.set(index, { problem: `column ${column} of ${named} is of type ${target.type}, not ${type}` });
    } else {
      const files = await fetchAllShards(session, objects, other);
      references.set(index, { table: `read_parquet([${files.map(quoteText).join(", ")}])`, column });
    }
  }
  return references;
}

/**
 * Returns the version with as many of its shards as one function reads, at equal distances. All shards of a version
 * that is not larger.
 */
export function sampledVersion<Version extends Pick<DatasetManifest, "bytes" | "rowCount" | "shards">>(
  version: Version,
): Version {
  const { bytes, shards } = version;
  const kept = Math.max(1, Math.floor((shards.length * groupBytes) / bytes));
  if (kept >= shards.length) return version;
  const some = Array.from({ length: kept }, (_, i) => shards[Math.floor(((i + 0.5) * shards.length) / kept)]!);
  const sum = (of: "bytes" | "rows") => some.reduce((total, shard) => total + shard[of], 0);
  return { ...version, shards: some, bytes: sum("bytes"), rowCount: sum("rows") };
}

type DriftRule = RuleOf<"drift">;

/** Measures the drift of all rules with the same baseline together. */
export async function measureDrifts(
  session: DuckDbSession,
  { rules }: DataContract,
  { schema, rowCount, rows }: Pick<CheckedRows, "schema" | "rowCount"> & { readonly rows: RowSource },
  others: OtherVersions,
  objects: Pick<ObjectStore, "getContent">,
  settled: Map<number, Measurement>,
): Promise<void> {
  const byBaseline = new Map<DatasetManifest, { readonly index: number; readonly rule: DriftRule }[]>();
  for (const [index, rule] of rules.entries()) {
    if (rule.rule !== "drift" || inapplicability(rule, schema) !== undefined) continue;
    const other = others.get(index) ?? "none";
    if (other === "none") settled.set(index, { skipped: "there is no earlier version to compare with" });
    else if ("problem" in other) settled.set(index, { problem: other.problem });
    else byBaseline.set(other, [...(byBaseline.get(other) ?? []), { index, rule }]);
  }
  for (const [baseline, group] of byBaseline) {
    const isNamed = ({ name }: ColumnSchema) => group.some(({ rule }) => rule.column === name);
    // A column that is ignored in training may still have a rule.
    const named = (columns: readonly ColumnSchema[]) =>
      columns.filter(isNamed).map((column) => ({ ...column, role: "feature" as const }));
    const current = { ...baseline, schema: named(schema), rowCount };
    const sampled = sampledVersion(baseline);
    const report = await measureDrift(
      {
        manifest: { ...sampled, schema: named(baseline.schema) },
        rows: createShardSource(session, objects, sampled),
      },
      { manifest: current, rows },
      defaultThresholds,
    );
    for (const { index, rule } of group) {
      const measured = report.columns.find(({ column }) => column === rule.column);
      const version = `version ${baseline.version}`;
      if (!measured) settled.set(index, { problem: `${version} has no column ${rule.column} of the same type` });
      else settled.set(index, driftMeasurement(rule, measured, version));
    }
  }
}

function driftMeasurement(
  { measure, column }: DriftRule,
  measured: { readonly [Measure in DriftRule["measure"]]?: number },
  version: string,
): Measurement {
  const value = measured[measure];
  if (value === undefined) return { problem: `column ${column} has no ${measure}: it is for numbers` };
  return Number.isFinite(value) ? { measured: value } : { problem: `its ${measure} against ${version} is not finite` };
}
