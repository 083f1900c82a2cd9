import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { InvalidInputError, RingmasterError } from "../../core/errors";
import type { Command } from "../command";
import type { GlobalOptions } from "../context";
import { exitCodes, printJson } from "../output";

interface RepairOptions extends GlobalOptions {
  readonly delete: readonly string[];
}

interface Report {
  readonly damaged: readonly { readonly item: string; readonly reason: string; readonly deletable: boolean }[];
  readonly deleted: readonly string[];
}

const maxReportBytes = 1024 ** 3;

export function addRepairCommand(program: Command): void {
  program
    .command("repair")
    .description("read all data of the embedded cloud, and list what is damaged; the stack must not be running")
    .repeatable("--delete <item>", "delete a damaged item, named as in the list")
    .action((_options: unknown, command: Command) => repair(command.optsWithGlobals<RepairOptions>()));
}

function repair({ data: directory, delete: named, json }: RepairOptions): void {
  const data = resolve(directory);
  if (!existsSync(data)) {
    throw new InvalidInputError("there is nothing to repair", [
      { path: "--data", value: data, rule: "name the data directory of a stack" },
    ]);
  }
  const args = [
    ...["--require", join(__dirname, "preload.js"), join(__dirname, "repair.js")],
    ...["--data", data, ...named.map((item) => `--delete=${item}`)],
  ];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", maxBuffer: maxReportBytes });
  if (status !== 0) throw new RingmasterError(stderr, { code: "REPAIR_FAILED", httpStatus: 500 });
  const report = JSON.parse(stdout) as Report;
  if (json) printJson({ data, ...report });
  else process.stdout.write(describe(report, data));
  if (report.damaged.length > 0) process.exitCode = exitCodes.failed;
}

function describe({ damaged, deleted }: Report, data: string): string {
  const lines = deleted.map((item) => `deleted: ${item}`);
  if (damaged.length === 0) return `${[...lines, `nothing in ${data} is damaged`].join("\n")}\n`;
  lines.push(
    ...damaged.map(
      ({ item, reason, deletable }) => `${item}: ${reason}${deletable ? "" : " (cannot be deleted alone)"}`,
    ),
    "Restore a backup of the whole directory, or delete items by `ringmaster repair --delete ITEM`.",
  );
  return `${lines.join("\n")}\n`;
}
