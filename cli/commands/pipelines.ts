import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { ApiClient } from "../../client/api-client";
import { parseYamlValue } from "../../core/yaml-input";
import { type Command, invalidOption } from "../command";
import { contextOf } from "../context";
import { exitCodes, printJson, printTable } from "../output";
import { preparePipeline } from "../pipeline-file";
import { type JobOptions, withJobOptions } from "../submission";

type Details = Awaited<ReturnType<typeof detailsOf>>;
type StepView = NonNullable<Details["steps"][number]["state"]>;

interface RunOptions extends JobOptions {
  readonly param: readonly string[];
  readonly cache: boolean;
  readonly again?: readonly string[];
  readonly wait?: boolean;
}

export function addPipelineCommands(program: Command): void {
  const pipelines = program
    .command("pipelines")
    .alias("pipeline")
    .description("run graphs of steps: functions, trainings, operations, other pipelines");

  withJobOptions(
    pipelines.command("push <file>").description("check a pipeline file and store it as the next version; idempotent"),
  ).action(async (file: string, options: JobOptions, command: Command) => {
    const { created, pipeline } = await push(file, options, command);
    const { name, version, steps } = pipeline;
    contextOf(command).print(
      { created, pipeline },
      `${name} version ${version} ${created ? "was created" : "exists"}: ${steps} steps; run it with: ringmaster pipelines run ${name}`,
    );
  });

  withJobOptions(pipelines.command("run <pipeline>").description("start a run of a pipeline, by its name or its file"))
    .repeatable("--param <name=value>", "value of a parameter, in YAML")
    .option("--no-cache", "reuse no output")
    .repeatable("--again <steps>", "steps that reuse no output, separated by commas", { commas: true })
    .option("--wait", "follow the run until it ends")
    .action(async (pipeline: string, options: RunOptions, command: Command) => {
      const isFile = /\.(ya?ml|json|[cm]?[jt]s)$/.test(pipeline);
      const name = isFile ? (await push(pipeline, options, command)).pipeline.name : pipeline;
      const { client, json, print } = contextOf(command);
      const no_cache = options.cache ? options.again : [];
      const body = { pipeline_id: name, config: parametersOf(options.param), ...(no_cache ? { no_cache } : {}) };
      const { run } = await client.call("startPipelineRun", { body, idempotencyKey: randomUUID() });
      if (options.wait) return finish(await watch(client, run.pipelineRunId, json), json);
      print(
        { run },
        `run ${run.pipelineRunId} of ${name} started; follow it with: ringmaster pipelines watch ${run.pipelineRunId}`,
      );
    });

  pipelines
    .command("list")
    .description("list the pipelines by name")
    .handle(async ({ client, json }) => {
      const { items } = await client.call("listPipelines", { query: { limit: 200 } });
      if (json) return printJson({ pipelines: items });
      printTable(
        ["PIPELINE", "VERSION", "STEPS", "PUSHED BY", "PUSHED (UTC)"],
        items.map((each) => [each.name, each.version, each.steps, each.createdBy, each.createdAt]),
      );
    });

  pipelines
    .command("runs [pipeline]")
    .description("list runs of pipelines, newest first")
    .handle(async ({ client, json }, pipeline?: string) => {
      const { items } = await client.call("listPipelineRuns", {
        query: { limit: 50, ...(pipeline === undefined ? {} : { pipeline }) },
      });
      if (json) return printJson({ runs: items });
      printTable(
        ["RUN", "PIPELINE", "STATUS", "STARTED (UTC)", "BY", "FAILURE"],
        items.map((run) => [
          run.pipelineRunId,
          `${run.pipeline}@${run.version}`,
          run.status,
          run.createdAt,
          run.createdBy,
          run.failure?.message ?? "",
        ]),
      );
    });

  pipelines
    .command("show <run>")
    .alias("why")
    .description("show a run's steps with their states, and why each ran or reused an output")
    .handle(async ({ client, json }, pipelineRunId: string) => {
      const details = await detailsOf(client, pipelineRunId);
      if (json) printJson(details);
      else printRun(details);
    });

  pipelines
    .command("watch <run>")
    .description("follow a run until it ends; exit code 1 if it fails")
    .handle(async ({ client, json }, pipelineRunId: string) => finish(await watch(client, pipelineRunId, json), json));

  pipelines
    .command("output <run> <step>")
    .description("print a step's output as JSON")
    .option("--item <n>", "index of an item of a step with forEach")
    .handle(async ({ client }, pipelineRunId: string, step: string, { item }: { item?: string }) => {
      const { output } = await client.call("getPipelineStep", {
        params: { pipelineRunId, step },
        query: item === undefined ? {} : { item },
      });
      printJson(output);
    });

  pipelines
    .command("graph <run>")
    .description("print a run's graph for Mermaid")
    .handle(async ({ client, print }, pipelineRunId: string) => {
      const { steps } = await detailsOf(client, pipelineRunId);
      const lines = steps.flatMap(({ name, kind, after, state }) => [
        `  ${name}["${name}: ${kind}, ${state?.status ?? "not reached"}"]`,
        ...after.map((parent) => `  ${parent} --> ${name}`),
      ]);
      print({ steps }, ["flowchart LR", ...lines].join("\n"));
    });

  pipelines
    .command("resume <run>")
    .description("run a failed or cancelled run again; steps and items that succeeded are taken over")
    .option("--newest", "by the newest version of the pipeline")
    .option("--wait", "follow the run until it ends")
    .handle(
      async (
        { client, json, print },
        pipelineRunId: string,
        { newest = false, wait }: { newest?: boolean; wait?: boolean },
      ) => {
        const { run } = await client.call("resumePipelineRun", {
          params: { pipelineRunId },
          body: { newest },
          idempotencyKey: randomUUID(),
        });
        if (wait) return finish(await watch(client, run.pipelineRunId, json), json);
        print({ run }, `run ${run.pipelineRunId} resumes ${pipelineRunId}`);
      },
    );

  pipelines
    .command("cancel <run>")
    .description("cancel a run; its steps of finally run")
    .handle(async ({ client, print }, pipelineRunId: string) => {
      const answer = await client.call("cancelPipelineRun", { params: { pipelineRunId } });
      print(answer, `run ${pipelineRunId} is ${answer.run.stopping?.status ?? answer.run.status}`);
    });
}

async function push(file: string, options: JobOptions, command: Command) {
  const definition = await preparePipeline(file, options, () => contextOf(command).client);
  return contextOf(command).client.call("pushPipeline", { body: definition });
}

const detailsOf = (client: ApiClient, pipelineRunId: string) =>
  client.call("getPipelineRun", { params: { pipelineRunId } });

function parametersOf(options: readonly string[]): Record<string, unknown> {
  const entries = options.map((text): [string, unknown] => {
    const at = text.indexOf("=");
    if (at < 1) throw invalidOption("--param", text, "must be NAME=VALUE");
    try {
      return [text.slice(0, at), parseYamlValue(text.slice(at + 1))];
    } catch (error) {
      throw invalidOption("--param", text, `must have a value in YAML: ${(error as Error).message}`);
    }
  });
  return Object.fromEntries(entries);
}

const pollMs = 500;

async function watch(client: ApiClient, pipelineRunId: string, quiet: boolean): Promise<Details> {
  const printed = new Map<string, string>();
  for (;;) {
    const details = (await client.call("getPipelineRun", { params: { pipelineRunId } })) as Details;
    for (const { name, state } of details.steps) {
      if (!state) continue;
      const line = `${name.padEnd(20)} ${statusOf(state)}${reasonOf(state) === "" ? "" : `  ${reasonOf(state)}`}`;
      if (!quiet && printed.get(name) !== line) process.stdout.write(`  ${line}\n`);
      printed.set(name, line);
    }
    if (details.run.status !== "running") return details;
    await sleep(pollMs);
  }
}

function finish(details: Details, json: boolean): void {
  if (json) printJson(details);
  else printRun(details);
  if (details.run.status !== "succeeded") process.exitCode = exitCodes.failed;
}

function printRun({ run, steps }: Details): void {
  const { pipelineRunId, pipeline, version, status, failure } = run;
  process.stdout.write(
    `run ${pipelineRunId} of ${pipeline}@${version}: ${status}${failure ? ` (${failure.step === undefined ? "" : `${failure.step}: `}${failure.message})` : ""}\n\n`,
  );
  printTable(
    ["STEP", "KIND", "STATUS", "SECONDS", "WHY"],
    steps.map(({ name, kind, state }) => [
      name,
      kind,
      state ? statusOf(state) : "–",
      secondsOf(state),
      state ? reasonOf(state) : "",
    ]),
  );
}

const statusOf = ({ status, map }: StepView): string => (map ? `${status} ${map.ended}/${map.total}` : status);
const reasonOf = ({ failure, why, waitsFor }: StepView): string =>
  failure?.message ?? [why, waitsFor && `waits for ${waitsFor.id}`].filter(Boolean).join("; ");

function secondsOf(state: StepView | undefined): string {
  if (state?.endedAt === undefined) return "–";
  return ((Date.parse(state.endedAt) - Date.parse(state.startedAt)) / 1_000).toFixed(1);
}
