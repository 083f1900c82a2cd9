import { spawnSync } from "node:child_process";
import path from "node:path";
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { ownerEnvironment } from "../../test/support/iam";
import { parseOptions } from "../support/arguments";
import { LineProcess } from "../support/line-process";
import { median } from "../support/median";
import { findTorch, type PeerPython } from "../support/peer-python";
import { startReport } from "../support/report";
import { markdownTable } from "../support/table";
import type { TrainerReport, TrainerTask } from "./protocol";

/** Milliseconds of computation between the writes to the state. */
const stepTimes = [0, 100, 500, 2000];
const checkpointsEach = 3;
const rounds = 2;
const bucket = "checkpoints";

interface TorchReport {
  readonly save: readonly number[];
  readonly dcpSave: readonly number[];
  readonly asyncBlocked: readonly number[];
  readonly asyncTotal: readonly number[];
  readonly baseBytes: number;
  readonly peakBytes: number;
}

interface Line {
  readonly name: string;
  /** Blocking time of a process's first checkpoint, whose pages are all new; median over the processes. */
  readonly firstBlockedMs: number;
  readonly blockedMs: number;
  readonly totalMs: number;
  /** Share of the synchronous time. */
  readonly firstShare: number;
  readonly share: number;
  readonly peakOverState: number;
  readonly peakMb: number;
  readonly baseMb: number;
}

function runTrainer(task: TrainerTask, env: NodeJS.ProcessEnv): TrainerReport {
  const script = path.join(__dirname, "checkpoint-trainer.js");
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, JSON.stringify(task)], {
    encoding: "utf8",
    env,
  });
  if (status !== 0) throw new Error(`the trainer ended with code ${status}: ${stderr}`);
  return JSON.parse(stdout) as TrainerReport;
}

async function measure(): Promise<{ readonly lines: readonly Line[]; readonly stateBytes: number }> {
  const server = new LineProcess(process.execPath, [path.join(__dirname, "checkpoint-store.js")]);
  try {
    const { endpoint } = await server.receive<{ readonly endpoint: string }>();
    const env = {
      ...process.env,
      AWS_ENDPOINT_URL: endpoint,
      AWS_REGION: "us-east-1",
      ...ownerEnvironment,
    };
    Object.assign(process.env, env);
    const client = new S3Client({});
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
    client.destroy();
    const kinds: readonly (number | undefined)[] = [undefined, ...stepTimes];
    const reports = new Map<number | undefined, TrainerReport[]>(kinds.map((kind) => [kind, []]));
    // In alternation, so that other load on the machine affects all of them.
    for (let round = 0; round < rounds; round += 1) {
      for (const stepMs of kinds) {
        const step = stepMs === undefined ? {} : { stepMs };
        reports.get(stepMs)!.push(runTrainer({ endpoint, bucket, checkpoints: checkpointsEach, ...step }, env));
      }
    }
    const synchronous = timesOf(reports.get(undefined)!);
    return {
      stateBytes: reports.get(undefined)![0]!.stateBytes,
      lines: kinds.map((kind) => lineOf(kind, reports.get(kind)!, synchronous)),
    };
  } finally {
    server.end();
  }
}

function timesOf(reports: readonly TrainerReport[]) {
  const first = reports.map(({ checkpoints }) => checkpoints[0]!);
  const later = reports.flatMap(({ checkpoints }) => checkpoints.slice(1));
  return {
    firstBlockedMs: median(first.map(({ blockedMs }) => blockedMs)),
    blockedMs: median(later.map(({ blockedMs }) => blockedMs)),
    totalMs: median(later.map(({ totalMs }) => totalMs)),
  };
}

function lineOf(
  stepMs: number | undefined,
  reports: readonly TrainerReport[],
  synchronous: ReturnType<typeof timesOf>,
): Line {
  const times = timesOf(reports);
  const peak = Math.max(...reports.map(({ peakBytes }) => peakBytes));
  return {
    name: stepMs === undefined ? "synchronous" : `steps of ${stepMs} ms`,
    ...times,
    firstShare: times.firstBlockedMs / synchronous.firstBlockedMs,
    share: times.blockedMs / synchronous.blockedMs,
    peakOverState: peak / reports[0]!.stateBytes,
    peakMb: peak / 1e6,
    baseMb: median(reports.map(({ baseBytes }) => baseBytes)) / 1e6,
  };
}

function runTorch({ python }: PeerPython, stateBytes: number): TorchReport {
  const script = path.join(process.cwd(), "bench", "checkpoint", "peer.py");
  const args = [script, String(stateBytes / 12), String(rounds + 1)];
  const { status, stdout, stderr } = spawnSync(python, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${script} ended with code ${status}: ${stderr}`);
  return JSON.parse(stdout.trim().split("\n").at(-1)!) as TorchReport;
}

export async function benchCheckpoint(args: readonly string[]): Promise<void> {
  const report = startReport(parseOptions(args, {}).json);
  const torch = findTorch();
  const { lines, stateBytes } = await measure();
  const peer = typeof torch === "string" ? undefined : runTorch(torch, stateBytes);
  const ms = (value: number) => `${value.toFixed(0)} ms`;
  const share = (value: number) => `${(value * 100).toFixed(1)} %`;
  const columns = ["", "blocked, first", "share", "blocked, later", "share", "until visible", "peak RSS", "÷ state"];
  const cells = lines.map((line) => [
    ...[line.name, ms(line.firstBlockedMs), share(line.firstShare), ms(line.blockedMs), share(line.share)],
    ...[ms(line.totalMs), `${line.peakMb.toFixed(0)} MB`, line.peakOverState.toFixed(2)],
    `${line.baseMb.toFixed(0)} MB`,
  ]);
  report(
    { stateBytes, lines, peer: peer ?? { skipped: torch } },
    `state ${(stateBytes / 1e6).toFixed(0)} MB: weights and two moments; ${rounds} processes a line in alternation, ${checkpointsEach} checkpoints each`,
    "",
    markdownTable([...columns, "idle process"], cells),
    "",
    ...(peer && typeof torch !== "string" ? peerLines(peer, torch, stateBytes) : [`peer skipped: ${String(torch)}`]),
  );
}

function peerLines(peer: TorchReport, { torch }: PeerPython, stateBytes: number): readonly string[] {
  const later = (times: readonly number[]) => `${median(times.slice(1)).toFixed(0)} ms`;
  const over = (peer.peakBytes / stateBytes).toFixed(2);
  return [
    `peer: PyTorch ${torch}, same state, to a local folder (no digests, no upload), without the first round:`,
    `torch.save ${later(peer.save)}; distributed.checkpoint.save ${later(peer.dcpSave)}; async_save blocks ${later(peer.asyncBlocked)}`,
    `of ${later(peer.asyncTotal)}; peak RSS ${(peer.peakBytes / 1e6).toFixed(0)} MB, ${over} × the state (idle process ${(peer.baseBytes / 1e6).toFixed(0)} MB)`,
  ];
}
