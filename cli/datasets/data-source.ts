import * as path from "node:path";
import { parseImageSize } from "../../adapters/duckdb/formats/image-header";
import type { ApiClient } from "../../client/api-client";
import type { DataSource } from "../job-file";
import { pushTarget } from "./push";
import { type PushChoices, pushData, showProgress } from "./push-data";
import { isRemote } from "./remote-sources";

/**
 * Makes a version of the data that a job names, or finds the equal one. @returns `NAME@VERSION` @throws `pushData`'s
 */
export async function pushDataSource(
  client: ApiClient,
  dataset: string,
  { paths, schema, size, ...choices }: DataSource,
  folder: string,
  checkColumns?: PushChoices["checkColumns"],
): Promise<string> {
  const at = (file: string): string => (isRemote(file) ? file : path.resolve(folder, file));
  const target = pushTarget([dataset, ...paths.map(at)]);
  const { registered } = await pushData(
    client,
    { ...target, schemaFile: path.resolve(folder, target.schemaFile) },
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
