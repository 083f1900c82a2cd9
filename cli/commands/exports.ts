import { mkdirSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { InvalidInputError } from "../../core/errors";
import { type ExportFormat, exportFormats } from "../../core/evaluation/model-artifact";
import { formatBytes } from "../../core/quantities";
import { artifactPath } from "../../core/tracking/artifacts";
import type { Command } from "../command";
import { downloadFile } from "../download";
import { modelVersionOf } from "../model-reference";
import { printJson, printTable } from "../output";
import { unwritable } from "../write-file";

export function addExportCommand(models: Command): void {
  models
    .command("export <model>")
    .description(
      "export NAME (the one in production), NAME@3 or NAME@ALIAS (or @latest) as files for other serving tools",
    )
    .requiredOption("--format <format>", exportFormats.join(", "))
    .option("--out <directory>", "directory to write (default: NAME-VERSION-FORMAT)")
    .handle(async ({ client, json }, reference: string, options: { format: string; out?: string }) => {
      const format = formatOf(options.format);
      const { name, version } = await modelVersionOf(client, reference);
      const request = { params: { name, version }, body: { format } };
      const { export: exported } = await client.call("createExport", request);
      const directory = options.out ?? `${name}-${version}-${format}`;
      const places = new Map(exported.files.map(({ path }) => [path, placeIn(directory, path)]));
      for (const { path, sha256 } of exported.files) {
        const place = places.get(path)!;
        makeDirectory(dirname(place));
        await downloadFile(await client.contentUrl(sha256), sha256, place, "--out");
      }
      if (json) printJson({ directory, version, export: exported });
      else {
        printTable(
          ["FILE", "SIZE", "DIFFERENCE", "SHA-256"],
          exported.files.map(({ path, bytes, difference, sha256 }) => [
            join(directory, path),
            formatBytes(bytes),
            difference === undefined ? "–" : difference.toExponential(1),
            sha256.slice(0, 12),
          ]),
        );
        const check = exported.files.some(({ difference }) => difference !== undefined)
          ? `files with a difference were compared with the platform's predictor on ${exported.check.rows} rows`
          : "its files were not run";
        process.stdout.write(`${name} version ${version}: ${check}; see docs/export.md\n`);
      }
    });
}

function formatOf(text: string): ExportFormat {
  const format = exportFormats.find((each) => each === text);
  if (format) return format;
  const rule = `must be one of ${exportFormats.join(", ")}`;
  throw new InvalidInputError("the model cannot be exported", [{ path: "--format", value: text, rule }]);
}

/** The API must not choose where this machine writes. @throws InvalidInputError for a path outside the directory */
export function placeIn(directory: string, path: string): string {
  const place = resolve(directory, artifactPath(path));
  if (place.startsWith(`${resolve(directory)}${sep}`)) return join(directory, path);
  const rule = "must be a path inside the output directory; nothing was written";
  throw new InvalidInputError("the export cannot be written", [{ path: "files", value: path, rule }]);
}

function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true });
  } catch (cause) {
    throw unwritable("--out", directory, cause);
  }
}
