import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { InvalidInputError, RingmasterError } from "../../core/errors";
import type { GlobalOptions } from "../context";
import { exitCodes, printJson } from "../output";

interface RepairOptions extends GlobalOptions {
  readonly list?: boolean;
  readonly apply?: boolean;
}

interface Report {
  readonly damaged: readonly {
    readonly store: string;
    readonly damages: readonly string[];
    readonly items: readonly { readonly item: string; readonly state: string }[];
    readonly changes: readonly string[];
  }[];
  readonly aside?: string;
}

const maxReportBytes = 1024 ** 3;

export function addRepairCommand(program: Command): void {
  program
    .command("repair")
    .description("list or repair damaged data of the embedded cloud; the stack must not be running")
    .option("--list", "list damaged files, and the items that are lost or uncertain; change nothing")
    .option("--apply", "keep intact files, and move damaged files to <data>/damaged-<time>")
    .action((_options: unknown, command: Command) => repair(command.optsWithGlobals<RepairOptions>()));
}

function repair({ data: directory, list = false, apply = false, json }: RepairOptions): void {
  const data = resolve(directory);
  if (list === apply) {
    throw new InvalidInputError("repair needs to know what to do", [
      { path: "--list, --apply", value: { list, apply }, rule: "give one of --list and --apply" },
    ]);
  }
  if (!existsSync(data)) {
    throw new InvalidInputError("there is nothing to repair", [
      { path: "--data", value: data, rule: "name the data directory of a stack" },
    ]);
  }
  const args = [
    "--require",
    join(__dirname, "preload.js"),
    join(__dirname, "repair.js"),
    "--data",
    data,
    ...(apply ? ["--apply"] : []),
  ];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", maxBuffer: maxReportBytes });
  if (status !== 0) throw new RingmasterError(stderr, { code: "REPAIR_FAILED", httpStatus: 500 });
  const report = JSON.parse(stdout) as Report;
  if (json) printJson({ data, ...report });
  else process.stdout.write(describe(report, data));
  if (!apply && report.damaged.length > 0) process.exitCode = exitCodes.failed;
}

function describe({ damaged, aside }: Report, data: string): string {
  if (damaged.length === 0) return `the databases in ${data} are intact\n`;
  const lines = damaged.flatMap(({ store, damages, items, changes }) => [
    `${store}:`,
    ...damages.map((damage) => `  damaged: ${damage}`),
    ...items.map(({ item, state }) => `  ${state}: ${item}`),
    ...changes.map((change) => `  changed: ${change}`),
  ]);
  const next = aside
    ? `All other records are kept. The damaged files are in ${aside}; \`ringmaster up\` starts the stack again.`
    : "Nothing was changed. `ringmaster repair --apply` keeps all other records, and moves the damaged files aside.";
  return `${[...lines, next].join("\n")}\n`;
}
