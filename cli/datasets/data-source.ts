import * as path from "node:path";
import { parseImageSize } from "../../adapters/duckdb/formats/image-header";
import type { ApiClient } from "../../client/api-client";
import type { DataSource } from "../job-file";
import { isDatabaseUrl } from "./database-query";
import { pushTarget } from "./push";
import { type PushChoices, pushData, showProgress } from "./push-data";
import { isRemote } from "./remote-sources";

/**
 * Makes a version of the data that a job names, or finds the one with equal content. Paths are relative to the job's
 * folder, where the schema file of remote data lies, too. Progress is written to stderr.
 *
 * @returns `NAME@VERSION`
 * @throws the errors of `pushData`
 */
export async function pushDataSource(
  client: ApiClient,
  dataset: string,
  { paths, from, sql, schema, size, ...choices }: DataSource,
  folder: string,
  checkColumns?: PushChoices["checkColumns"],
): Promise<string> {
  const at = (file: string): string => (isRemote(file) || isDatabaseUrl(file) ? file : path.resolve(folder, file));
  const query = from === undefined || sql === undefined ? undefined : { from: at(from), sql };
  const target = query
    ? { name: dataset, sources: [], schemaFile: `${dataset}.schema.yaml` }
    : pushTarget([dataset, ...paths.map(at)]);
  const { registered } = await pushData(
    client,
    { ...target, query, schemaFile: path.resolve(folder, target.schemaFile) },
    {
      ...{ ...choices, checkColumns },
      ...(schema === undefined ? {} : { schema: at(schema) }),
      ...(size === undefined ? {} : { size: parseImageSize(size) }),
    },
    {
      onSource: (text) => void process.stderr.write(`${text}\n`),
      onProgress: showProgress(),
      onContract: () => undefined,
    },
  );
  const { name, version } = registered.version.manifest;
  process.stderr.write(`${name}@${version} (${registered.created ? "new version" : "already exists"})\n`);
  return `${name}@${version}`;
}
