import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ownerKeys } from "../../adapters/files/owner-keys";
import { type CampaignResult, runCampaign } from "../../test/support/fuzz/campaign";
import { keepData } from "../../test/support/fuzz/kept";
import { closeConnections } from "../../test/support/fuzz/request";
import type { FuzzCaller, FuzzCallers } from "../../test/support/fuzz/source";
import { createSources } from "../../test/support/fuzz/sources";
import { parseOptions } from "../support/arguments";
import { describeMachine, machineLine } from "../support/machine";
import { type BenchStack, startStack } from "../support/stack";
import type { Block } from "./monitor";

/** A longer block is a failure. */
const maxBlockMs = 200;
const teams = ["red", "blue"];

/**
 * Sends random requests to a stack: the native API, MLflow's protocol and every service of the AWS port. Fails if a request is
 * answered by an undocumented 5xx, if the event loop is blocked for more than 200 ms, or if data that no request named has
 * changed.
 */
export async function benchFuzz(args: readonly string[]): Promise<void> {
  const values = parseOptions(args, { requests: 10_000, seed: 1, inFlight: 16 });
  const machine = describeMachine();
  const seed = values.seed;
  process.stderr.write(`${machineLine(machine)}, seed ${seed}\n`);
  const { stack, blocksFile } = startMonitored();
  try {
    const data = join(stack.directory, "data");
    const keys = ownerKeys(data);
    const callers = callersOf(stack);
    const [kept] = tokensOf(stack, ["kept"]);
    const { api, endpoint } = stack;
    const intact = await keepData({ api, endpoint, keys, headers: kept!.headers });
    const before = await intact.read();
    const startedAt = Date.now();
    const result = await runCampaign({
      requests: values.requests,
      inFlight: values.inFlight,
      sources: createSources({ api, endpoint, keys }, callers, seed),
      progress: (done) => process.stderr.write(`${done} requests\n`),
    });
    const same = (await intact.read()) === before;
    intact.close();
    report(result, blocksOf(blocksFile, startedAt), same, values.json);
  } finally {
    closeConnections();
    stack.close();
  }
}

function startMonitored(): { readonly stack: BenchStack; readonly blocksFile: string } {
  const blocksFile = join(process.cwd(), "dist", `fuzz-blocks-${process.pid}.jsonl`);
  process.env["RINGMASTER_FUZZ_BLOCKS"] = blocksFile;
  process.env["NODE_OPTIONS"] = `--require ${join(__dirname, "fuzz-monitor.js")}`;
  const stack = startStack();
  delete process.env["NODE_OPTIONS"];
  delete process.env["RINGMASTER_FUZZ_BLOCKS"];
  return { stack, blocksFile };
}

function callersOf(stack: BenchStack): FuzzCallers {
  const nobody: FuzzCaller = { name: "nobody", headers: {} };
  const stranger: FuzzCaller = { name: "stranger", headers: { authorization: "Bearer rmt_none" } };
  const known = tokensOf(stack, teams);
  return { teams: known, all: [...known, ...known, ...known, ...known, nobody, stranger] };
}

function tokensOf(stack: BenchStack, names: readonly string[]): readonly FuzzCaller[] {
  return names.map((team) => {
    const made = stack.ringmaster(["tokens", "create", team, "--team", team, "--scope", "read,write,approve"]) as {
      readonly token: string;
    };
    return { name: team, headers: { authorization: `Bearer ${made.token}` } };
  });
}

function blocksOf(file: string, since: number): readonly Block[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Block)
    .filter(({ endedAt, wallMs }) => endedAt - wallMs >= since);
}

function report(result: CampaignResult, blocks: readonly Block[], intact: boolean, json: boolean): void {
  const { requests, seconds, failures } = result;
  const long = blocks.filter((block) => blockedMs(block) > maxBlockMs);
  const longest = Math.round(Math.max(0, ...blocks.map(blockedMs)));
  const summary = {
    requests,
    seconds: Math.round(seconds),
    failures: failures.length,
    maxBlockMs: longest,
    blocks: long.length,
    intact,
  };
  if (json) process.stdout.write(`${JSON.stringify({ ...summary, byStatus: byStatus(result) }, null, 2)}\n`);
  else {
    process.stdout.write(`${table(result)}\n`);
    for (const [name, value] of Object.entries(summary)) process.stdout.write(`${name.padEnd(16)} ${value}\n`);
  }
  for (const failure of failures) process.stderr.write(`${failure}\n`);
  for (const block of long) process.stderr.write(`${shownBlock(block, result)}\n`);
  if (failures.length > 0 || long.length > 0 || !intact) process.exitCode = 1;
}

function blockedMs({ wallMs, cpuMs }: Block): number {
  return Math.min(wallMs, cpuMs);
}

/** Describes a block and the requests in progress, the last sent first. */
function shownBlock(block: Block, { slow }: CampaignResult): string {
  const from = block.endedAt - block.wallMs;
  const during = slow.filter(({ startedAt, endedAt }) => startedAt <= block.endedAt && endedAt >= from);
  const shown = during.sort((a, b) => b.startedAt - a.startedAt).slice(0, 16);
  const lines = shown.map((one) => `  ${one.endedAt - one.startedAt} ms ${one.shown}`);
  return [`blocked for ${Math.round(block.wallMs)} ms (${Math.round(block.cpuMs)} ms on a processor)`, ...lines].join(
    "\n",
  );
}

const protocols = ["native", "mlflow", "aws"];

function byStatus({ statuses }: CampaignResult): Readonly<Record<string, Readonly<Record<string, number>>>> {
  return Object.fromEntries(
    protocols.map((protocol) => {
      const counts: Record<string, number> = {};
      for (const [route, found] of statuses) {
        if (!route.startsWith(`${protocol} `)) continue;
        for (const [status, count] of found) counts[status] = (counts[status] ?? 0) + count;
      }
      return [protocol, counts];
    }),
  );
}

function table(result: CampaignResult): string {
  const counts = byStatus(result);
  const all = [...new Set(Object.values(counts).flatMap((one) => Object.keys(one)))].sort();
  const row = (name: string, cells: readonly string[]): string =>
    `${name.padEnd(8)}${cells.map((cell) => cell.padStart(8)).join("")}`;
  return [
    row("", all),
    ...protocols.map((protocol) =>
      row(
        protocol,
        all.map((status) => String(counts[protocol]![status] ?? "")),
      ),
    ),
  ].join("\n");
}
