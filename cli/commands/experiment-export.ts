import { createWriteStream, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Command, Option } from "commander";
import { ApiError } from "../../client/errors";
import { formatBytes } from "../../core/quantities";
import { exportTables } from "../../core/tables";
import { contextOf, pagesOf } from "../context";
import { printJson } from "../output";
import { findExperiment } from "./experiments";

const attempts = 3;

interface Options {
  readonly format: "parquet" | "csv";
  readonly out: string;
}

export function addExperimentExportCommand(experiments: Command): void {
  experiments
    .command("export <experiment>")
    .description("write the runs, params, tags, metrics and metric points of an experiment as Parquet or CSV")
    .addOption(new Option("--format <format>", "format of the files").choices(["parquet", "csv"]).default("parquet"))
    .requiredOption("--out <directory>", "directory of the files; created if it does not exist")
    .action(async (which: string, { format, out }: Options, command: Command) => {
      const { client, json } = contextOf(command);
      const { experimentId } = await findExperiment(client, which);
      mkdirSync(out, { recursive: true });
      const files: { table: string; file: string; bytes: number }[] = [];
      for (const table of exportTables) {
        const file = join(out, `${table}.${format}`);
        const path = `/api/v1/experiments/${experimentId}/export?table=${table}&format=${format}`;
        const bytes = await download(command, path, file);
        files.push({ table, file, bytes });
        if (!json) process.stdout.write(`${file}  ${formatBytes(bytes)}\n`);
      }
      if (json) printJson({ files });
    });
}

/** Writes a response under a temporary name, then renames it: an interrupted export leaves no file that looks complete. */
async function download(command: Command, path: string, file: string): Promise<number> {
  const partial = `${file}.partial`;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const response = await pagesOf(command).request(path, { accept: "*/*" });
      if (!response.ok || !response.body) {
        const { error } = (await response.json()) as { error: ConstructorParameters<typeof ApiError>[0] };
        throw new ApiError(error, response.status, response.headers);
      }
      const target = createWriteStream(partial);
      await pipeline(Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]), target);
      renameSync(partial, file);
      return target.bytesWritten;
    } catch (error) {
      rmSync(partial, { force: true });
      if (error instanceof ApiError || attempt === attempts) throw error;
    }
  }
}
