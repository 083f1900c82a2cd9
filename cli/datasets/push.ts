import * as fs from "node:fs";
import type { PushFileOptions, PushResult } from "../../adapters/duckdb/push-file";
import { parseDatasetSchema } from "../../core/datasets/schema";
import { InvalidInputError } from "../../core/errors";

export type { PushProgress, PushResult } from "../../adapters/duckdb/push-file";

export interface PushOptions<Registered> extends Omit<PushFileOptions<Registered>, "schema"> {
  readonly schemaFile: string;
}

/**
 * Executes the client's part of `ringmaster datasets push`: validates the input, then makes the file a version.
 *
 * @throws InvalidInputError, and the errors of `pushFile`
 */
export async function pushDataset<Registered>(options: PushOptions<Registered>): Promise<PushResult<Registered>> {
  const { name, schemaFile } = options;
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(name)) {
    throw new InvalidInputError("the dataset cannot be pushed", [
      {
        path: "name",
        value: name,
        rule: "must be 1–63 lower-case letters, digits and hyphens, starting with a letter or digit",
      },
    ]);
  }
  const schema = parseDatasetSchema(readSchema(schemaFile), schemaFile);
  const { pushFile } = await import("../../adapters/duckdb/push-file");
  return pushFile({ ...options, schema });
}

function readSchema(file: string): string {
  try {
    return fs.readFileSync(file, "utf8");
  } catch (cause) {
    const rule = "must be a readable file";
    throw new InvalidInputError("the schema file cannot be used", [{ path: "schema", value: file, rule }], cause);
  }
}
