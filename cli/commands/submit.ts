import { randomUUID } from "node:crypto";
import { type Command, wholeNumber } from "../command";
import { contextOf } from "../context";
import { type GroupMember, printGroup, submitGroup, watchGroup } from "../group";
import { printJson } from "../output";
import { describeRun } from "../run-description";
import { type JobOptions, type PreparedGroup, prepareJobs, withJobOptions } from "../submission";
import { exitCodeOf, warningLines, watchRun } from "../watch";

interface SubmitOptions extends JobOptions {
  readonly wait?: boolean;
  readonly cache: boolean;
  readonly pauseAt?: number;
  readonly name?: string;
}

export function addSubmitCommand(program: Command): void {
  withJobOptions(program.command("submit <job>").description("create a run from a job file and start it"))
    .option("--wait", "follow the run until it ends or waits for an approval")
    .option("--name <name>", "name of the run in lists, pages and MLflow (default: its id)")
    .option("--pause-at <epochs>", "pause after that number of epochs, until `runs resume`", wholeNumber("--pause-at"))
    .option("--no-cache", "run every step; do not reuse outputs of earlier runs")
    .action(async (file: string, options: SubmitOptions, command: Command) => {
      const request = { noCache: !options.cache, pauseAt: options.pauseAt };
      const named = options.name === undefined ? [] : [`name=${JSON.stringify(options.name)}`];
      const prepared = await prepareJobs(
        file,
        { ...options, set: [...options.set, ...named] },
        () => contextOf(command).client,
      );
      const { client, json } = contextOf(command);
      // With the key, a repeated submission after a lost response returns the same run.
      const key = randomUUID();
      if (prepared.length > 1) {
        const { group, members } = await submitGroup(client, prepared, request, key);
        if (!json || !options.wait) report(group, members, json);
        if (options.wait) process.exitCode = await watchGroup(client, group, members, json);
        return;
      }
      const run = await client.submitRun({ ...(prepared[0] as PreparedGroup[number]).job, ...request }, key);
      if (!options.wait) {
        const { warnings } = await client.run(run.runId);
        if (json) printJson({ ...run, warnings });
        else {
          for (const line of warningLines({ warnings })) process.stdout.write(`${line}\n`);
          process.stdout.write(`${run.runId} is ${run.status}; follow it with: ringmaster runs watch ${run.runId}\n`);
        }
        return;
      }
      const details = await watchRun(client, run.runId, { quiet: json, printId: true });
      if (json) printJson({ ...describeRun(details, await client.metrics(run.runId)), awaited: details.awaited });
      process.exitCode = exitCodeOf(details.run);
    });
}

function report(group: string, members: readonly GroupMember[], json: boolean): void {
  if (json) printJson({ group, runs: members.map(({ settings, run }) => ({ settings, run })) });
  else printGroup(group, members);
}
