import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { referenceOf } from "../../adapters/files/reference";
import { InvalidInputError } from "../../core/errors";
import { formatBytes } from "../../core/quantities";
import { artifactPath } from "../../core/tracking/artifacts";
import type { RestoreOverrides } from "../../core/training/restore";
import type { Command } from "../command";
import { downloadFile } from "../download";
import { formatNumber, printJson, printTable } from "../output";
import { describeRun } from "../run-description";
import { createUploads } from "../uploads";
import { exitCodeOf, watchRun } from "../watch";

interface RestoreOptions {
  readonly epoch: string;
  readonly epochs?: string;
  readonly workers?: string;
  readonly allowOtherNumerics?: boolean;
  readonly wait?: boolean;
}

export function addCheckpointCommands(runs: Command): void {
  runs
    .command("checkpoints <run>")
    .description("list the checkpoints of a run")
    .handle(async ({ client, json }, runId: string) => {
      const { checkpoints, damaged = [] } = await client.call("listCheckpoints", { params: { runId } });
      if (json) return printJson({ checkpoints, damaged });
      printTable(
        ["EPOCH", "STEP", "VALIDATION LOSS", "SIZE", "WEIGHTS SHA-256", "CREATED"],
        checkpoints.map(({ epoch, finishedSteps, validation, bytes, weightsSha256, createdAt }) => [
          epoch,
          finishedSteps,
          validation === undefined ? "–" : formatNumber(validation.loss),
          formatBytes(bytes),
          weightsSha256.slice(0, 16),
          createdAt,
        ]),
      );
      for (const { finishedSteps, error } of damaged) {
        process.stdout.write(`damaged: the checkpoint at step ${finishedSteps} cannot be used. ${error}\n`);
      }
    });

  runs
    .command("restore <run>")
    .description("start a new run from a checkpoint of this run")
    .requiredOption("--epoch <n>", "restore the checkpoint after n epochs")
    .option("--epochs <n>", "total number of epochs to train, including the finished ones")
    .option("--workers <n>", "number of workers")
    .option("--allow-other-numerics", "allow a machine with different numerics; the result is marked")
    .option("--wait", "follow the run until it ends or waits for an approval")
    .handle(async ({ client, json, print }, runId: string, options: RestoreOptions) => {
      const { epoch, allowOtherNumerics } = options;
      const body = { overrides: overridesOf(options), allowOtherNumerics: allowOtherNumerics === true };
      const request = { params: { runId, epoch }, body, idempotencyKey: randomUUID() };
      const { run } = await client.call("restoreTrainingRun", request);
      if (!options.wait) {
        print(
          run,
          `${run.runId} is ${run.status}, from step ${run.restoredFrom?.step} of ${runId}; follow it with: ringmaster runs watch ${run.runId}`,
        );
        return;
      }
      const details = await watchRun(client, run.runId, { quiet: json, printId: true });
      if (json) printJson({ ...describeRun(details, await client.metrics(run.runId)), awaited: details.awaited });
      process.exitCode = exitCodeOf(details.run);
    });
}

function overridesOf({ epochs, workers }: RestoreOptions): RestoreOverrides {
  return {
    ...(epochs === undefined ? {} : { hyperparameters: { epochs: Number(epochs) } }),
    ...(workers === undefined ? {} : { resources: { workers: Number(workers) } }),
  };
}

/** Maximum number of files in a request, as in the API. */
const filesPerCall = 100;

export function addArtifactCommands(runs: Command): void {
  const artifacts = runs.command("artifacts").description("list, download and upload files of a run");

  artifacts
    .command("list <run> [path]")
    .description("list files and directories directly under a path")
    .handle(async ({ client, json }, runId: string, path: string | undefined) => {
      const answer = await client.call("listRunArtifacts", { params: { runId }, query: { path } });
      if (json) printJson(answer);
      else if (answer.artifacts.length === 0) {
        process.stdout.write(path === undefined ? "the run has no files\n" : `the run has no files under ${path}\n`);
      } else
        printTable(
          ["PATH", "SIZE", "SHA-256"],
          answer.artifacts.map((one) => [
            one.isDirectory ? `${one.path}/` : one.path,
            one.bytes === undefined ? "" : formatBytes(one.bytes),
            one.sha256 ?? "",
          ]),
        );
    });

  artifacts
    .command("get <run> <path>")
    .description("download a file")
    .option("--output <file>", "output file (default: the file's name, in the current directory)")
    .handle(async ({ client, print }, runId: string, path: string, options: { output?: string }) => {
      const artifact = await client.call("getRunArtifact", { params: { runId }, query: { path } });
      const file = resolve(options.output ?? basename(path));
      await downloadFile(artifact.url, artifact.sha256, file, "--output");
      print({ path, file, sha256: artifact.sha256, bytes: artifact.bytes }, `${file} (${formatBytes(artifact.bytes)})`);
    });

  artifacts
    .command("put <run> <file>")
    .description("upload a file, or all files of a directory")
    .option("--path <path>", "artifact path (default: the file's name)")
    .handle(async ({ client, json }, runId: string, file: string, options: { path?: string }) => {
      const files = await filesOf(file, artifactPath(options.path ?? basename(resolve(file))));
      const uploads = createUploads(client);
      const put = [];
      for (let from = 0; from < files.length; from += filesPerCall) {
        const contents = await Promise.all(
          files.slice(from, from + filesPerCall).map(async (one) => ({ ...one, ...(await referenceOf(one.file)) })),
        );
        const missing = new Set(await uploads.missing(contents));
        for (const { sha256, bytes, file: source } of contents) {
          if (missing.delete(sha256)) await uploads.put({ sha256, bytes }, { path: source });
        }
        const body = { artifacts: contents.map(({ path, sha256 }) => ({ path, sha256 })) };
        put.push(...(await client.call("putRunArtifacts", { params: { runId }, body })).artifacts);
      }
      if (json) printJson({ artifacts: put });
      else for (const one of put) process.stdout.write(`${one.path} (${formatBytes(one.bytes ?? 0)})\n`);
    });
}

/** Lists the files below a directory by their relative paths. Links are omitted, because they may lead outside. */
async function filesOf(
  file: string,
  path: string,
): Promise<readonly { readonly file: string; readonly path: string }[]> {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat?.isFile()) return [{ file, path }];
  if (!stat?.isDirectory()) {
    const rule = "must be a readable file or directory";
    throw new InvalidInputError("the artifact cannot be uploaded", [{ path: "file", value: file, rule }]);
  }
  const entries = await readdir(file, { withFileTypes: true });
  const below = entries
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((entry) => filesOf(join(file, entry.name), artifactPath(`${path}/${entry.name}`)));
  return (await Promise.all(below)).flat();
}
