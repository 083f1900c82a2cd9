import * as path from "node:path";
import type { PushFileOptions, PushResult } from "../../adapters/duckdb/push-file";
import { parseDatasetSchema } from "../../core/datasets/schema";
import { InvalidInputError } from "../../core/errors";
import { isRemote } from "./remote-sources";
import { readSchema } from "./schema-file";

export type { PushProgress, PushResult } from "../../adapters/duckdb/push-file";

const namePattern = /^[a-z0-9][a-z0-9-]{0,62}$/;

export interface PushTarget {
  readonly name: string;
  /** Files, folders, globs, or URLs (`s3:`, `https:`). */
  readonly sources: readonly string[];
  /** Path of the schema file that belongs to them. */
  readonly schemaFile: string;
}

/**
 * The name of `push SOURCE` is the file's or folder's: `sales-2026` for `data/Sales 2026.csv.gz`. @throws
 * InvalidInputError
 */
export function pushTarget(given: readonly string[], files: readonly string[] = []): PushTarget {
  const [first = "", ...rest] = given;
  const named = !isSource(first);
  const sources = named ? [...rest, ...files] : given;
  if (sources.length === 0) {
    throw refused(
      first,
      `must be a data file such as ${first}.csv, a folder such as ${first}/, or a dataset's name with --file FILE`,
    );
  }
  if (!named && files.length > 0) throw refused(first, "must be a dataset's name where --file names the file");
  if (!named && sources.length > 1) {
    throw refused(first, "must be a dataset's name where there are several files: datasets push NAME FILE FILE");
  }
  const name = named
    ? first
    : nameOf(path.basename(isRemote(first) ? first.replace(/[?#].*$/, "") : path.resolve(fixedPart(first))));
  const schemaFile = isRemote(sources[0]!) ? `${name}.schema.yaml` : schemaFileOf(name, sources);
  return { name, sources, schemaFile };
}

function isSource(argument: string): boolean {
  return /[./\\*?[]/.test(argument);
}

function fixedPart(source: string): string {
  const parts = source.split(/[/\\]/);
  const glob = parts.findIndex((part) => /[*?[]/.test(part));
  return glob < 0 ? source : parts.slice(0, glob).join("/") || ".";
}

/** Returns `data/sales.schema.yaml` for `data/sales.csv.gz` and for `data/sales/`, `data/NAME.schema.yaml` for `data/*.csv`. */
function schemaFileOf(name: string, sources: readonly string[]): string {
  const first = sources[0]!;
  const fixed = fixedPart(first);
  if (fixed !== first) return path.join(fixed, `${name}.schema.yaml`);
  const base = path.basename(first).replace(/\.gz$/, "");
  const stem = sources.length === 1 ? base.slice(0, base.length - path.extname(base).length) : name;
  return path.join(path.dirname(first), `${stem}.schema.yaml`);
}

/** Returns a dataset's name for a file's: its first part in lower case and with hyphens. */
function nameOf(base: string): string {
  const [first = ""] = base.toLowerCase().split(".");
  return first
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 63);
}

function refused(argument: string, rule: string): InvalidInputError {
  return new InvalidInputError("the dataset cannot be pushed", [{ path: "name", value: argument, rule }]);
}

export interface PushOptions<Registered> extends Omit<PushFileOptions<Registered>, "schema" | "append"> {
  readonly schemaFile: string;
}

export interface AppendOptions<Registered> extends Omit<PushFileOptions<Registered>, "schema"> {
  readonly append: NonNullable<PushFileOptions<Registered>["append"]>;
}

/** Validates the input, then makes the file a version. @throws InvalidInputError, and the errors of `pushFile` */
export async function pushDataset<Registered>(options: PushOptions<Registered>): Promise<PushResult<Registered>> {
  const { name, schemaFile } = options;
  assertName(name);
  const schema = parseDatasetSchema(readSchema(schemaFile), schemaFile);
  const { pushFile } = await import("../../adapters/duckdb/push-file");
  return pushFile({ ...options, schema });
}

/** Appends rows to the newest version, by its schema and split. @throws the errors of `pushFile` */
export async function appendToDataset<Registered>(options: AppendOptions<Registered>): Promise<PushResult<Registered>> {
  const { schema: columns, split } = options.append.version.manifest;
  const { indexes: _, ...rule } = split;
  const { pushFile } = await import("../../adapters/duckdb/push-file");
  return pushFile({ ...options, schema: { columns, split: rule } });
}

export function assertName(name: string): void {
  if (namePattern.test(name)) return;
  const rule = "must be 1–63 lower-case letters, digits and hyphens, starting with a letter or digit";
  throw new InvalidInputError("the dataset cannot be pushed", [{ path: "name", value: name, rule }]);
}
