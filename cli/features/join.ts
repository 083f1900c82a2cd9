import { existsSync, renameSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { extname, join } from "node:path";
import type { ApiClient } from "../../client/api-client";
import { mapLimited } from "../../core/each-limited";
import { InvalidInputError } from "../../core/errors";
import { downloadFile } from "../download";
import { assertKeepsInputs, unwritable } from "../write-file";
import { viewAt } from "./entity";

const downloadsAtOnce = 4;
const memoryMb = 1_200;

export interface JoinRequest {
  readonly labels: string;
  readonly time: string;
  readonly output: string;
  readonly fullNames: boolean;
  /** `NAME` or `NAME@3`. */
  readonly views: readonly string[];
}

/**
 * Writes rows with the features known at their time, whole or not at all. @throws InvalidInputError, the client's
 * errors
 */
export async function joinViews(client: ApiClient, request: JoinRequest) {
  const { output } = request;
  const extension = extname(output).toLowerCase();
  if (extension !== ".parquet" && extension !== ".csv") {
    const rule = "must end in .parquet or .csv";
    throw new InvalidInputError("the rows cannot be joined", [{ path: "--output", value: output, rule }]);
  }
  assertKeepsInputs("--output", output, { labels: request.labels });
  const versions = (await Promise.all(request.views.map((one) => viewAt(client, one)))).map(({ version }) => version);
  // Loaded only by this command, because DuckDB loads slowly.
  const { joinAsOf } = await import("../../adapters/duckdb/as-of-join");
  const { withDuckDb } = await import("../../adapters/duckdb/workspace");
  const partial = `${output}.partial${extension}`;
  try {
    const rows = await withDuckDb(
      (session) =>
        joinAsOf(session, {
          ...{ labels: request.labels, time: request.time, fullNames: request.fullNames, output: partial },
          views: versions.map((version) => ({
            version,
            async fetch({ from, to }) {
              const batches = client.pages("listFeatureBatches", {
                params: { view: version.name },
                query: { version: version.version, limit: 200 },
              });
              const wanted: string[] = [];
              for await (const { files } of batches) {
                for (const file of files) if (file.from <= to && file.to >= from) wanted.push(file.sha256);
              }
              return mapLimited(wanted, downloadsAtOnce, async (sha256) => {
                const target = join(session.directory, `${sha256}.parquet`);
                if (!existsSync(target)) {
                  await downloadFile(await client.contentUrl(sha256), sha256, target, "--output");
                }
                return target;
              });
            },
          })),
        }),
      { memoryMb, threads: availableParallelism() },
    );
    renameSync(partial, output);
    const shown = versions.map(({ name, version }) => ({ name, version }));
    return {
      output,
      rows,
      views: shown,
      features: versions.flatMap(({ features }) => features.map(({ name }) => name)),
    };
  } catch (error) {
    if (/Cannot open file|No such file/.test(String(error)) && String(error).includes(partial)) {
      throw unwritable("--output", output, error);
    }
    throw error;
  } finally {
    rmSync(partial, { force: true });
  }
}
