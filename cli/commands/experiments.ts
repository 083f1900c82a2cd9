import { randomUUID } from "node:crypto";
import type { ApiClient } from "../../client/api-client";
import { InvalidInputError } from "../../core/errors";
import { timeText } from "../../core/quantities";
import { experimentNotFound } from "../../core/tracking/records/errors";
import type { ExperimentEdit } from "../../core/tracking/records/transitions";
import type { Experiment, RunRecord } from "../../core/tracking/shapes";
import type { Command } from "../command";
import type { CliContext } from "../context";
import { printJson, printTable } from "../output";
import { tookOf } from "../record-lines";
import { tagsOf } from "../tags";

interface ViewOptions {
  readonly deleted?: boolean;
  readonly all?: boolean;
}

export function addExperimentCommands(program: Command): Command {
  const experiments = program.command("experiments").description("list and change experiments");

  experiments
    .command("list")
    .description("list experiments, oldest first")
    .option("--deleted", "list only deleted experiments")
    .option("--all", "include deleted experiments")
    .handle(async ({ client, json }, options: ViewOptions) => {
      const all = await client.list("listExperiments", { query: { view: viewOf(options), limit: 200 } });
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
    .repeatable("--tag <key=value>", "tag of the experiment")
    .option("--artifact-location <uri>", "base URI for the artifacts of the experiment's runs")
    .handle(async (context, name: string, options: { tag: readonly string[]; artifactLocation?: string }) => {
      const body = { name, tags: tagsOf(options.tag), artifactLocation: options.artifactLocation };
      const { experiment } = await context.client.call("createExperiment", { body, idempotencyKey: randomUUID() });
      report(context, experiment, "created");
    });

  experiments
    .command("show <experiment>")
    .description("show an experiment and its newest runs")
    .option("--limit <n>", "maximum number of runs, at most 200", "20")
    .option("--next-token <token>", "continue an earlier list")
    .option("--all", "list all runs")
    .handle(async ({ client, json }, which: string, { limit, nextToken, all }: ShowOptions) => {
      if (all && nextToken !== undefined) {
        const rule = "cannot be combined with --all, which starts at the first run";
        throw new InvalidInputError("the experiment cannot be shown", [{ path: "--next-token", rule }]);
      }
      const experiment = await findExperiment(client, which);
      const page = await runsOf(client, experiment, { limit: all ? "200" : limit, nextToken, all });
      if (json) return printJson({ experiment, ...page });
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
          run.status,
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
    .handle((context, which: string, name: string) => change(context, which, { name }, "renamed"));

  experiments
    .command("tag <experiment> <key=value...>")
    .description("set tags; KEY= removes a tag")
    .handle((context, which: string, given: readonly string[]) =>
      change(context, which, { tags: tagsOf(given, { emptyRemoves: true }) }, "tagged"),
    );

  experiments
    .command("delete <experiment>")
    .description("mark an experiment as deleted; it accepts no new runs, and its data is kept")
    .handle((context, which: string) => change(context, which, { lifecycle: "deleted" }, "deleted"));

  experiments
    .command("restore <experiment>")
    .description("restore a deleted experiment")
    .handle((context, which: string) => change(context, which, { lifecycle: "active" }, "restored"));
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

async function runsOf(
  client: ApiClient,
  { experimentId, lifecycle }: Experiment,
  { limit, nextToken, all }: ShowOptions,
): Promise<{ readonly runs: readonly RunRecord[]; readonly nextToken?: string }> {
  const query = { limit, view: viewWithin(lifecycle), nextToken };
  if (!all) return client.call("listExperimentRuns", { params: { experimentId }, query });
  return { runs: await client.list("listExperimentRuns", { params: { experimentId }, query }) };
}

function showExperiment({ experimentId, name, lifecycle, tags, artifactLocation, createdAt, createdBy }: Experiment) {
  process.stdout.write(`experiment ${experimentId}: ${name}${lifecycle === "deleted" ? " (deleted)" : ""}\n`);
  process.stdout.write(`created ${createdAt} by ${createdBy}; artifacts at ${artifactLocation}\n`);
  if (Object.keys(tags).length > 0) process.stdout.write(`tags ${tagsText(tags)}\n`);
  process.stdout.write("\n");
}

async function change(context: CliContext, which: string, body: ExperimentEdit, done: string): Promise<void> {
  const { client } = context;
  const { experimentId } = await findExperiment(client, which);
  const { experiment } = await client.call("changeExperiment", { params: { experimentId }, body });
  report(context, experiment, done);
}

/** Finds an experiment by its id, else by its name. A name of digits is found if no experiment has that id. */
export async function findExperiment(client: ApiClient, which: string): Promise<Experiment> {
  if (which === "") {
    throw new InvalidInputError("the experiment cannot be found", [
      { path: "experiment", value: which, rule: "must be an id or a name" },
    ]);
  }
  if (/^\d{1,12}$/.test(which)) {
    const answer = await client.call("getExperiment", { params: { experimentId: which } }).catch((error) => {
      if (error?.code === "EXPERIMENT_NOT_FOUND") return undefined;
      throw error;
    });
    if (answer) return answer.experiment;
  }
  const { experiments } = await client.call("listExperiments", { query: { name: which, view: "all" } });
  const [experiment] = experiments;
  if (!experiment) throw experimentNotFound({ name: which });
  return experiment;
}

function report({ print }: CliContext, experiment: Experiment, done: string): void {
  print({ experiment }, `experiment ${experiment.experimentId} (${experiment.name}) is ${done}`);
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
