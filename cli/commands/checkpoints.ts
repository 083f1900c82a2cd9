import { randomUUID } from "node:crypto";
import { formatBytes } from "../../core/quantities";
import type { RestoreOverrides } from "../../core/training/restore";
import type { Command } from "../command";
import { formatNumber, printJson, printTable } from "../output";
import { describeRun } from "../run-description";
import { exitCodeOf, watchRun } from "../watch";

interface RestoreOptions {
  readonly epoch: string;
  readonly epochs?: string;
  readonly workers?: string;
  readonly allowOtherNumerics?: boolean;
  readonly wait?: boolean;
}

/** Adds `runs checkpoints` and `runs restore`. */
export function addCheckpointCommands(runs: Command): void {
  runs
    .command("checkpoints <run>")
    .description("list the checkpoints of a run")
    .handle(async ({ client, json }, runId: string) => {
      const { checkpoints, damaged = [] } = await client.checkpoints(runId);
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
      const request = { overrides: overridesOf(options), allowOtherNumerics: allowOtherNumerics === true };
      const run = await client.restoreRun(runId, epoch, request, randomUUID());
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
