import * as fs from "node:fs";
import type { TargetSize } from "../../adapters/duckdb/formats/image-header";
import type { InferredSchema } from "../../adapters/duckdb/infer-schema";
import type { DataFiles } from "../../adapters/duckdb/source";
import { parseDatasetSchema } from "../../core/datasets/schema";
import type { DatasetManifest } from "../../core/datasets/shapes";
import { InvalidInputError, type Problem } from "../../core/errors";
import { unwritable } from "../write-file";
import { followVersion, schemaText } from "./schema-text";

export interface SchemaChoice {
  readonly sources: readonly string[];
  readonly schemaFile: string;
  /** The sources as the caller names them, for the schema file. */
  readonly named?: readonly string[];
  readonly schema?: string;
  readonly label?: string;
  readonly missing?: readonly string[];
  readonly size?: TargetSize;
  readonly earlierVersion?: (() => Promise<DatasetManifest | undefined>) | undefined;
  readonly dryRun?: boolean | undefined;
}

export interface SchemaFile {
  readonly schemaFile: string;
  readonly text: string;
  /** Whether this call has written it, or would have. */
  readonly created: boolean;
  /** Comments of the written schema, each with its column. */
  readonly remarks: readonly string[];
}

/**
 * The named schema file, else the one next to the data, written if there is none and never changed. @throws
 * InvalidInputError if there is nothing to infer a schema for, or the existing file contradicts the options
 */
export async function provideSchemaFile(choice: SchemaChoice): Promise<SchemaFile> {
  const { sources, schema, label, missing, size } = choice;
  const schemaFile = schema ?? choice.schemaFile;
  if (schema === undefined && !fs.existsSync(schemaFile)) {
    if (label === undefined && !sources.some(mayHaveLabel)) {
      const rule = `is required: there is no ${schemaFile}. Name the column to predict, or a schema file with --schema`;
      throw new InvalidInputError("the dataset cannot be pushed", [{ path: "--label", rule }]);
    }
    const inferred = await inferSchemaOf(sources, label, missing, size);
    const earlier = await choice.earlierVersion?.();
    const names = (choice.named ?? sources).join(" ");
    const suggested = earlier ? followVersion(inferred, earlier) : inferred;
    const text = schemaText(names, suggested);
    try {
      // Another process may have written it since. Its file stays.
      if (!choice.dryRun) fs.writeFileSync(schemaFile, text, { flag: "wx" });
      const remarks = suggested.columns.flatMap(({ name, note }) => (note === undefined ? [] : [`${name}: ${note}`]));
      return { schemaFile, text, created: true, remarks };
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw unwritable("the schema file", schemaFile, cause);
    }
  }
  const text = readSchema(schemaFile);
  assertAgrees(schemaFile, text, choice);
  return { schemaFile, text, created: false, remarks: [] };
}

/** Tests whether a source may define its label: a folder, an archive, images or texts. */
function mayHaveLabel(source: string): boolean {
  return !/\.(csv|tsv|parquet|pq|json|ndjson|jsonl)(\.gz)?$/i.test(source);
}

export async function inferSchemaOf(
  sources: DataFiles,
  label?: string,
  missing?: readonly string[],
  size?: TargetSize,
): Promise<InferredSchema> {
  // DuckDB's library takes long to load: only commands that read data load it.
  const { inferSchema } = await import("../../adapters/duckdb/infer-schema");
  const { withDuckDb } = await import("../../adapters/duckdb/workspace");
  return withDuckDb((session) => inferSchema(session, sources, label, missing, size));
}

/** Checks that an existing schema file says what the options say, which it overrides. */
function assertAgrees(schemaFile: string, text: string, { schema, label, missing = [] }: SchemaChoice): void {
  if (label === undefined && missing.length === 0) return;
  const { columns } = parseDatasetSchema(text, schemaFile);
  const problems: Problem[] = [];
  const next = schema === undefined ? `edit ${schemaFile}, or remove it to infer a new one` : `edit ${schemaFile}`;
  const labelName = columns.find(({ role }) => role === "label")?.name;
  if (label !== undefined && label !== labelName) {
    problems.push({ path: "--label", value: label, rule: `must be ${labelName}, the label in ${schemaFile}; ${next}` });
  }
  for (const token of missing) {
    if (columns.some((column) => column.missing?.includes(token))) continue;
    problems.push({ path: "--missing", value: token, rule: `must be a missing token of ${schemaFile}; ${next}` });
  }
  if (problems.length > 0) throw new InvalidInputError("the options contradict the schema file", problems);
}

export function readSchema(file: string): string {
  try {
    return fs.readFileSync(file, "utf8");
  } catch (cause) {
    const rule = "must be a readable file";
    throw new InvalidInputError("the schema file cannot be used", [{ path: "schema", value: file, rule }], cause);
  }
}
