import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { timeText } from "../../api/compare/metric-text";
import type { ApiClient } from "../../client/api-client";
import { InvalidInputError } from "../../core/errors";
import { displayedStatus } from "../../core/runs/run";
import { ExperimentNotFoundError } from "../../core/tracking/records/errors";
import type { ExperimentEdit } from "../../core/tracking/records/transitions";
import type { Experiment, RunRecord } from "../../core/tracking/shapes";
import { contextOf } from "../context";
import { collect } from "../option-values";
import { printJson, printTable } from "../output";
import { tookOf } from "../record-view";
import { tagsOf } from "../tags";

interface ViewOptions {
  readonly deleted?: boolean;
  readonly all?: boolean;
}

/** @returns the command to which others add subcommands */
export function addExperimentCommands(program: Command): Command {
  const experiments = program.command("experiments").description("list and change experiments");

  experiments
    .command("list")
    .description("list experiments, oldest first")
    .option("--deleted", "list only deleted experiments")
    .option("--all", "include deleted experiments")
    .action(async (options: ViewOptions, command: Command) => {
      const { client, json } = contextOf(command);
      const all: Experiment[] = [];
      const query = { view: viewOf(options), limit: 200 };
      for await (const one of client.pages("listExperiments", { query })) all.push(one);
      if (json) printJson({ experiments: all });
      else
        printTable(
          ["ID", "NAME", "STATE", "TAGS", "CREATED (UTC)", "BY"],
          all.map(({ experimentId, name, lifecycle, tags, createdAt, createdBy }) => [
            experimentId,
            name,
            lifecycle,
            tagsText(tags),
            timeText(createdAt),
            createdBy,
          ]),
        );
    });

  experiments
    .command("create <name>")
    .description("create an experiment (submitting a job creates its experiment)")
    .option("--tag <key=value>", "tag of the experiment (repeatable)", collect, [])
    .option("--artifact-location <uri>", "base URI for the artifacts of the experiment's runs")
    .action(async (name: string, options: { tag: readonly string[]; artifactLocation?: string }, command: Command) => {
      const { client, json } = contextOf(command);
      const { artifactLocation } = options;
      const body = { name, tags: tagsOf(options.tag), ...(artifactLocation === undefined ? {} : { artifactLocation }) };
      const { experiment } = await client.call("createExperiment", { body, idempotencyKey: randomUUID() });
      tell(experiment, "created", json);
    });

  experiments
    .command("show <experiment>")
    .description("show an experiment and its newest runs")
    .option("--limit <n>", "maximum number of runs, at most 200", "20")
    .option("--next-token <token>", "continue an earlier list")
    .option("--all", "list all runs")
    .action(async (which: string, { limit, nextToken, all }: ShowOptions, command: Command) => {
      const { client, json } = contextOf(command);
      if (all && nextToken !== undefined) {
        const rule = "cannot be combined with --all, which starts at the first run";
        throw new InvalidInputError("the experiment cannot be shown", [{ path: "--next-token", rule }]);
      }
      const experiment = await findExperiment(client, which);
      const page = await runsOf(client, experiment, { limit: all ? "200" : limit, nextToken, all });
      if (json) {
        printJson({ experiment, ...page });
        return;
      }
      showExperiment(experiment);
      if (page.runs.length === 0 && nextToken === undefined) {
        process.stdout.write("no runs\n");
        return;
      }
      printTable(
        ["RUN", "NAME", "STATUS", "STARTED (UTC)", "TOOK", "BY", "SOURCE"],
        page.runs.map((run) => [
          run.runId,
          run.name === run.runId ? "" : run.name,
          displayedStatus(run),
          timeText(run.startedAt),
          tookOf(run),
          run.createdBy,
          run.source,
        ]),
      );
      if (page.nextToken === undefined) return;
      const { total } = await client.call("searchRuns", {
        body: { experiments: [experiment.experimentId], limit: 1, view: viewWithin(experiment.lifecycle) },
      });
      process.stdout.write(
        `${page.runs.length} of ${total} runs; for more: --all, --limit N or --next-token ${page.nextToken}\n`,
      );
    });

  experiments
    .command("rename <experiment> <name>")
    .description("rename an experiment; the old name becomes free")
    .action((which: string, name: string, _options: unknown, command: Command) =>
      change(which, { name }, "renamed", command),
    );

  experiments
    .command("tag <experiment> <key=value...>")
    .description("set tags; KEY= removes a tag")
    .action((which: string, given: readonly string[], _options: unknown, command: Command) =>
      change(which, { tags: tagsOf(given, { emptyRemoves: true }) }, "tagged", command),
    );

  experiments
    .command("delete <experiment>")
    .description("mark an experiment as deleted; it accepts no new runs, and its data is kept")
    .action((which: string, _options: unknown, command: Command) =>
      change(which, { lifecycle: "deleted" }, "deleted", command),
    );

  experiments
    .command("restore <experiment>")
    .description("restore a deleted experiment")
    .action((which: string, _options: unknown, command: Command) =>
      change(which, { lifecycle: "active" }, "restored", command),
    );
  return experiments;
}

interface ShowOptions {
  readonly limit: string;
  readonly nextToken?: string;
  readonly all?: boolean;
}

/** The runs of a deleted experiment are deleted with it. */
function viewWithin(lifecycle: Experiment["lifecycle"]): "active" | "all" {
  return lifecycle === "deleted" ? "all" : "active";
}

/** Returns a page of its runs, or all of them. */
async function runsOf(
  client: ApiClient,
  { experimentId, lifecycle }: Experiment,
  { limit, nextToken, all }: ShowOptions,
): Promise<{ readonly runs: readonly RunRecord[]; readonly nextToken?: string }> {
  const query = { limit, view: viewWithin(lifecycle), ...(nextToken === undefined ? {} : { nextToken }) };
  if (!all) return client.call("listExperimentRuns", { params: { experimentId }, query });
  const runs: RunRecord[] = [];
  for await (const run of client.pages("listExperimentRuns", { params: { experimentId }, query })) runs.push(run);
  return { runs };
}

function showExperiment({ experimentId, name, lifecycle, tags, artifactLocation, createdAt, createdBy }: Experiment) {
  process.stdout.write(`experiment ${experimentId}: ${name}${lifecycle === "deleted" ? " (deleted)" : ""}\n`);
  process.stdout.write(`created ${createdAt} by ${createdBy}; artifacts at ${artifactLocation}\n`);
  if (Object.keys(tags).length > 0) process.stdout.write(`tags ${tagsText(tags)}\n`);
  process.stdout.write("\n");
}

async function change(which: string, body: ExperimentEdit, done: string, command: Command): Promise<void> {
  const { client, json } = contextOf(command);
  const { experimentId } = await findExperiment(client, which);
  const { experiment } = await client.call("changeExperiment", { params: { experimentId }, body });
  tell(experiment, done, json);
}

/** Finds an experiment by its id, else by its name. A name of digits is found if no experiment has that id. */
export async function findExperiment(client: ApiClient, which: string): Promise<Experiment> {
  if (which === "") {
    throw new InvalidInputError("the experiment cannot be found", [
      { path: "experiment", value: which, rule: "must be an id or a name" },
    ]);
  }
  if (/^\d{1,12}$/.test(which)) {
    const known = await client.call("getExperiment", { params: { experimentId: which } }).catch((error) => {
      if (error?.code === "EXPERIMENT_NOT_FOUND") return undefined;
      throw error;
    });
    if (known) return known.experiment;
  }
  const { experiments } = await client.call("listExperiments", { query: { name: which, view: "all" } });
  const [experiment] = experiments;
  if (!experiment) throw new ExperimentNotFoundError({ name: which });
  return experiment;
}

function tell(experiment: Experiment, done: string, json: boolean): void {
  if (json) printJson({ experiment });
  else process.stdout.write(`experiment ${experiment.experimentId} (${experiment.name}) is ${done}\n`);
}

function viewOf({ deleted, all }: ViewOptions): "active" | "deleted" | "all" {
  if (all) return "all";
  return deleted ? "deleted" : "active";
}

function tagsText(tags: Readonly<Record<string, string>>): string {
  return Object.entries(tags)
    .map(([key, value]) => `${key}=${value}`)
    .join(" ");
}
