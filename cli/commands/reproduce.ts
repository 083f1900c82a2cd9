import { randomUUID } from "node:crypto";
import pc from "picocolors";
import type { Answer } from "../../client/operations";
import type { Command } from "../command";
import { exitCodes, printJson, printTable } from "../output";
import { watchRun } from "../watch";

type Reproduction = Answer<"getReproduction">["reproduction"];

/**
 * Adds `runs reproduce` and `runs reproduction`. Exit codes: 0 identical (or not known yet), 3 different, 1 without
 * weights.
 */
export function addReproduceCommands(runs: Command): void {
  runs
    .command("reproduce <run>")
    .description("reproduce a run from its record, without registering a model version")
    .option("--wait", "follow the reproduction until it ends, then compare the weights")
    .handle(async ({ client, json, print }, runId: string, options: { wait?: boolean }) => {
      const run = await client.reproduceRun(runId, randomUUID());
      if (!options.wait) {
        print(
          run,
          `${run.runId} is ${run.status}; compare it with its original with: ringmaster runs reproduction ${run.runId}`,
        );
        return;
      }
      await watchRun(client, run.runId, { quiet: json, printId: true });
      tell(await client.reproduction(run.runId), json);
    });

  runs
    .command("reproduction <run>")
    .description("compare the weights of a reproduction with its original, and explain a difference")
    .option("--of <run>", "compare with this run (default: the original)")
    .handle(async ({ client, json }, runId: string, options: { of?: string }) => {
      tell(await client.reproduction(runId, options.of), json);
    });
}

const codeOf: Readonly<Record<Reproduction["verdict"], number>> = {
  pending: exitCodes.ok,
  identical: exitCodes.ok,
  different: exitCodes.different,
  failed: exitCodes.failed,
};

function tell(reproduction: Reproduction, json: boolean): void {
  process.exitCode = codeOf[reproduction.verdict];
  if (json) {
    printJson(reproduction);
    return;
  }
  const { verdict, of, runId, originalSha256, reproductionSha256, differences, agreement, explanation } = reproduction;
  const colour = verdict === "identical" ? pc.green : verdict === "pending" ? pc.yellow : pc.red;
  process.stdout.write(`${colour(verdict)}: ${explanation}\n\n`);
  const first = agreement?.first;
  printTable(
    ["", of, runId],
    [
      ["weights", originalSha256?.slice(0, 16) ?? "–", reproductionSha256?.slice(0, 16) ?? "–"],
      ...(first
        ? [[`${first.metric ?? "checkpoint"} at step ${first.step}`, short(first.original), short(first.reproduction)]]
        : []),
      ...differences.map((each) => [`${each.kind}: ${each.field}`, short(each.original), short(each.reproduction)]),
    ],
  );
}

function short(text: string): string {
  return text.length <= 40 ? text : `${text.slice(0, 39)}…`;
}
