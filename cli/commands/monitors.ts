import { InvalidInputError } from "../../core/errors";
import { numberText } from "../../core/html/drift-html";
import { monitorTarget, targetText } from "../../core/monitors/shapes";
import { problemsOf } from "../../core/problems";
import { type Command, numberOrText, wholeNumber } from "../command";
import { contextOf } from "../context";
import { addDriftOptions, addThresholdOptions, type DriftOptions, showDrift, thresholdsOf } from "../drift-report";
import { printJson, printTable } from "../output";

interface CreateOptions extends Pick<DriftOptions, "level" | "distance" | "psi"> {
  readonly model?: string;
  readonly dataset?: string;
  readonly baseline?: number;
  readonly everyRows?: number;
  readonly schedule?: string;
  readonly timeZone?: string;
  readonly minRows?: number;
  readonly rate?: string;
}

export function addMonitorCommands(program: Command): void {
  const monitors = program.command("monitors").description("watch inferences and dataset versions for drift");

  addThresholdOptions(
    monitors
      .command("create <name>")
      .description("watch the inferences of a model, or each new version of a dataset")
      .option("--model <model>", "model: NAME (the version in production) or NAME@3")
      .option("--dataset <dataset>", "dataset")
      .option(
        "--baseline <version>",
        "dataset version to compare with; default: the one before",
        wholeNumber("--baseline"),
      )
      .option("--every-rows <n>", "measure after so many stored rows (default: 5000)", wholeNumber("--every-rows"))
      .option("--schedule <expression>", "measure at these times: rate(1 day) or cron(0 3 * * ? *)")
      .option("--time-zone <zone>", "time zone of the schedule (default: UTC)")
      .option("--min-rows <n>", "rows for which a window on a schedule waits (default: 500)", wholeNumber("--min-rows"))
      .option("--rate <share>", "share of units whose rows are stored and compared (default: 1)"),
  ).action(async (name: string, options: CreateOptions, command: Command) => {
    const body = { name, target: targetOf(options), thresholds: thresholdsOf(options) };
    const { client, json } = contextOf(command);
    const answer = await client.call("createMonitor", { body });
    if (json) printJson(answer);
    else
      process.stdout.write(
        `${name}: ${answer.created ? "created" : "already there"}; watches ${targetText(answer.monitor.target)}\n`,
      );
  });

  monitors
    .command("list")
    .description("list monitors")
    .handle(async ({ client, json }) => {
      const listed = await client.list("listMonitors", { query: { limit: 200 } });
      if (json) printJson({ monitors: listed });
      else {
        printTable(
          ["MONITOR", "WATCHES", "WINDOWS", "FAILURE"],
          listed.map((one) => [one.name, targetText(one.target), one.windows, one.lastFailure?.code ?? "–"]),
        );
      }
    });

  monitors
    .command("show <name>")
    .description("show a monitor and its newest windows")
    .handle(async ({ client, json }, name: string) => {
      const { monitor } = await client.call("getMonitor", { params: { monitor: name } });
      const { items } = await client.call("listMonitorWindows", { params: { monitor: name } });
      if (json) return printJson({ monitor, windows: items });
      const { lastFailure, deletedAt, target } = monitor;
      process.stdout.write(`watches ${targetText(target)}${deletedAt ? `; deleted ${deletedAt}` : ""}\n`);
      if (lastFailure) process.stdout.write(`cannot measure the next window: ${lastFailure.message}\n`);
      printTable(
        ["WINDOW", "END", "VERSION", "ROWS", "DRIFT", "AUC", "COLUMNS"],
        items.map(({ window, end, version, rows, severity, auc, drifted }) => [
          ...[window, end, version, rows, severity ?? "–", auc === undefined ? "–" : numberText(auc)],
          drifted.join(", "),
        ]),
      );
    });

  addDriftOptions(
    monitors.command("report <name>").description("show the whole report of a window; by default of the newest one"),
    false,
  )
    .option("--window <n>", "number of the window", wholeNumber("--window"))
    .action(async (name: string, options: DriftOptions & { readonly window?: number }, command: Command) => {
      if (options.window === 0) {
        const problem = { path: "--window", value: 0, rule: "must be at least 1: the first window has the number 1" };
        throw new InvalidInputError("there is no report", [problem]);
      }
      const { client, json } = contextOf(command);
      const newest = async () => (await client.call("getMonitor", { params: { monitor: name } })).monitor.windows;
      const window = options.window ?? (await newest());
      if (window === 0) {
        const rule = "must have measured a window; inferences or a new version fill it";
        throw new InvalidInputError("there is no report", [{ path: "name", value: name, rule }]);
      }
      const { report } = await client.call("getMonitorWindow", { params: { monitor: name, window } });
      showDrift(report, options, json);
    });

  monitors
    .command("delete <name>")
    .description("end a monitor; its windows can still be read")
    .handle(async ({ client, print }, name: string) => {
      const answer = await client.call("deleteMonitor", { params: { monitor: name } });
      print(answer, `${name}: deleted`);
    });
}

function targetOf(options: CreateOptions) {
  const { model, dataset, baseline, everyRows, schedule, timeZone, minRows, rate } = options;
  const refuse = (path: string, rule: string) =>
    new InvalidInputError("the monitor cannot be created", [{ path, rule }]);
  if ((model === undefined) === (dataset === undefined)) {
    throw refuse("--model", "must be given, or --dataset, and not both");
  }
  if (dataset !== undefined) {
    const wrong = Object.entries({ everyRows, schedule, timeZone, minRows, rate }).find(
      ([, value]) => value !== undefined,
    );
    if (wrong) throw refuse(optionOf(wrong[0]), "is for --model: a window of a dataset is one version");
    return { type: "dataset", dataset, baseline } as const;
  }
  if (baseline !== undefined) throw refuse("--baseline", "is for --dataset: a model is compared with its training");
  const [, name = model ?? "", version] = /^(.+?)[@/](\d+)$/.exec(model ?? "") ?? [];
  if (timeZone !== undefined && schedule === undefined) throw refuse("--time-zone", "is for --schedule");
  const target = {
    type: "model",
    model: name,
    version: version === undefined ? undefined : Number(version),
    schedule: schedule === undefined ? undefined : { expression: schedule, timeZone: timeZone || undefined },
    samplingRate: rate === undefined ? undefined : numberOrText(rate),
    ...{ everyRows, minRows },
  };
  const parsed = monitorTarget.safeParse(target, { reportInput: true });
  if (parsed.success) return parsed.data;
  const problems = problemsOf(parsed.error).map((problem) => ({ ...problem, path: optionOf(problem.path) }));
  throw new InvalidInputError("the monitor cannot be created", problems);
}

const targetOptions: Readonly<Record<string, string>> = {
  ...{ version: "--model", samplingRate: "--rate" },
  ...{ "schedule.expression": "--schedule", "schedule.timeZone": "--time-zone" },
};

/** Returns the option of a target's field: `--every-rows` of `everyRows`. */
const optionOf = (field: string): string =>
  targetOptions[field] ?? `--${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
