import type { Command } from "commander";
import pc from "picocolors";
import { InvalidInputError } from "../../core/errors";
import { wholeNumber } from "../command";
import { apiUrlOf, contextOf } from "../context";
import type { Finding } from "../doctor/account";
import { openAccount } from "../doctor/aws-account";
import { checkAccount } from "../doctor/check-account";
import { checkStep, type StepKind } from "../doctor/step";
import { exitCodes, printJson, shownText } from "../output";
import { isOnThisMachine } from "../signing";

interface DoctorOptions {
  readonly account?: boolean;
  readonly steps?: string;
  readonly prefix: string;
  readonly wait: number;
}

const kinds = ["cpu", "gpu"] as const;
const minute = 60_000;

export function addDoctorCommand(program: Command): void {
  program
    .command("doctor")
    .description("check a deployment: quotas, account settings, alarms, and one step on a CPU and on a GPU")
    .option("--account", "check the AWS account (default: unless the API is on this machine)")
    .option("--no-account", "do not check the AWS account")
    .option(
      "--steps <kinds>",
      "steps to run: cpu, gpu, both with a comma, or none (default: cpu,gpu; on this machine: cpu)",
    )
    .option("--prefix <prefix>", "prefix of the platform, as in ringmaster.config.ts", "ringmaster")
    .option("--wait <minutes>", "how long a step may take, with the start of a machine", wholeNumber("--wait"), 20)
    .action(doctor);
}

async function doctor({ account, steps, prefix, wait }: DoctorOptions, command: Command): Promise<void> {
  const { client, json } = contextOf(command);
  const { hostname } = new URL(apiUrlOf(command));
  const here = isOnThisMachine(hostname);
  const wanted = stepsOf(steps ?? (here ? "cpu" : "cpu,gpu"));
  const findings: Finding[] = [];
  const add = (finding: Finding): void => {
    findings.push(finding);
    if (!json) process.stdout.write(`${describe(finding)}\n`);
  };
  if (account ?? !here) {
    const region = /\.execute-api\.([a-z0-9-]+)\.amazonaws\./.exec(hostname)?.[1];
    for (const one of await checkAccount(await openAccount(prefix, region), wanted.includes("gpu"))) add(one);
  }
  for (const kind of wanted) {
    const blocked = kind === "gpu" && findings.some(({ check, result }) => result === "problem" && isGpuQuota(check));
    if (blocked) {
      add({
        check: "one GPU step",
        result: "unchecked",
        found: "not started, because the quota above gives no GPU",
        fix: "Request the quota, then repeat: ringmaster doctor --steps gpu",
      });
    } else {
      const say = (line: string): void => void (json || process.stderr.write(`${line}\n`));
      add(await checkStep(client, kind, wait * minute, say));
    }
  }
  const failed = findings.filter(({ result }) => result === "problem" || result === "unchecked").length;
  if (json) printJson({ findings });
  else process.stdout.write(`\n${failed === 0 ? "no problems" : `${failed} of ${findings.length} checks failed`}\n`);
  if (failed > 0) process.exitCode = exitCodes.failed;
}

/** The spot GPU queue is the one that the GPU step uses. */
function isGpuQuota(check: string): boolean {
  return /^quota .*\((All G and VT|All P\d)/.test(check);
}

function stepsOf(text: string): readonly StepKind[] {
  if (text === "none") return [];
  const names = text.split(",").map((one) => one.trim());
  if (names.every((one): one is StepKind => kinds.some((kind) => kind === one)))
    return kinds.filter((kind) => names.includes(kind));
  throw new InvalidInputError("the steps are not valid", [
    { path: "--steps", value: text, rule: "must be cpu, gpu, cpu,gpu or none" },
  ]);
}

const marks = {
  ok: pc.green("ok      "),
  warning: pc.yellow("warning "),
  problem: pc.red("problem "),
  unchecked: pc.yellow("unknown "),
} as const;

function describe({ check, result, found, fix }: Finding): string {
  const line = `${marks[result]} ${check}: ${shownText(found)}`;
  return fix === undefined ? line : `${line}\n         fix: ${fix}`;
}
