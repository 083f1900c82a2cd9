import * as path from "node:path";
import type { PushFileOptions, PushResult } from "../../adapters/duckdb/push-file";
import { parseDatasetSchema } from "../../core/datasets/schema";
import { InvalidInputError } from "../../core/errors";
import { readSchema } from "./schema-file";

export type { PushProgress, PushResult } from "../../adapters/duckdb/push-file";

const namePattern = /^[a-z0-9][a-z0-9-]{0,62}$/;

/**
 * Returns the dataset's name and file from `push NAME --file FILE` or `push FILE`. In the second form the name is the
 * file's, in lower case and with hyphens: `sales-2026` for `data/Sales 2026.csv.gz`.
 *
 * @throws InvalidInputError if the file is missing, or there are two
 */
export function pushTarget(
  argument: string,
  file: string | undefined,
): { readonly name: string; readonly file: string } {
  const isFile = /[./\\]/.test(argument);
  if (file !== undefined && !isFile) return { name: argument, file };
  if (file === undefined && isFile) {
    const [base = ""] = path.basename(argument).toLowerCase().split(".");
    return {
      name: base
        .replaceAll(/[^a-z0-9]+/g, "-")
        .replaceAll(/^-+|-+$/g, "")
        .slice(0, 63),
      file: argument,
    };
  }
  const rule = isFile
    ? "must be a dataset's name where --file names the file"
    : `must be a data file such as ${argument}.csv, or a dataset's name with --file FILE`;
  throw new InvalidInputError("the dataset cannot be pushed", [{ path: "name", value: argument, rule }]);
}

export interface PushOptions<Registered> extends Omit<PushFileOptions<Registered>, "schema" | "append"> {
  readonly schemaFile: string;
}

export interface AppendOptions<Registered> extends Omit<PushFileOptions<Registered>, "schema"> {
  readonly append: NonNullable<PushFileOptions<Registered>["append"]>;
}

/**
 * Executes the client's part of `ringmaster datasets push`: validates the input, then makes the file a version.
 *
 * @throws InvalidInputError, and the errors of `pushFile`
 */
export async function pushDataset<Registered>(options: PushOptions<Registered>): Promise<PushResult<Registered>> {
  const { name, schemaFile } = options;
  assertName(name);
  const schema = parseDatasetSchema(readSchema(schemaFile), schemaFile);
  const { pushFile } = await import("../../adapters/duckdb/push-file");
  return pushFile({ ...options, schema });
}

/**
 * Appends a file's rows to the newest version, by that version's schema and split.
 *
 * @throws the errors of `pushFile`
 */
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
