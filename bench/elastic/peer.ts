import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { seededRandom } from "../../test/support/random";
import { findTorch, type PeerPython } from "../support/peer-python";

export interface PeerSummary {
  readonly torch: string;
  readonly trials: number;
  readonly complete: number;
  readonly checkpointEverySteps: number;
  /** From the kill to the next step that was not finished before, for completed trials. */
  readonly resumesMs: readonly number[];
  /** Finished steps that were repeated, by trial. */
  readonly lostSteps: readonly number[];
}

interface Step {
  readonly rank: number;
  readonly pid: number;
  /** Number of times that the agent has restarted the workers. */
  readonly restart: number;
  readonly step: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

const usual = { workers: 3, steps: 1_000, checkpointEverySteps: 50, pauseMs: 0, from: 50 };
const trialMs = 90_000;

/** Runs torchrun's elastic agent on the same kind of trial: a worker killed at a random step. A text gives the reason for none. */
export async function measurePeer(trials: number, plan = usual): Promise<PeerSummary | string> {
  const torch = findTorch();
  if (typeof torch === "string") return torch;
  const random = seededRandom(7);
  const outcomes = [];
  for (let trial = 0; trial < trials; trial += 1) {
    const killAfter = plan.from + Math.floor(random() * (plan.steps - 3 * plan.from));
    outcomes.push(await runPeerTrial(torch, killAfter, Math.floor(random() * plan.workers), plan));
  }
  const complete = outcomes.filter((outcome) => outcome !== undefined);
  return {
    torch: torch.torch,
    trials,
    complete: complete.length,
    checkpointEverySteps: plan.checkpointEverySteps,
    resumesMs: complete.map(({ resumeMs }) => resumeMs),
    lostSteps: complete.map(({ lost }) => lost),
  };
}

async function runPeerTrial({ python }: PeerPython, killAfter: number, rank: number, plan: typeof usual) {
  const folder = mkdtempSync(join(tmpdir(), "ringmaster-bench-"));
  const script = join(process.cwd(), "bench/elastic/ddp.py");
  const agent = spawn(
    python,
    [
      "-m",
      "torch.distributed.run",
      "--nnodes=1",
      `--nproc-per-node=${plan.workers}`,
      "--max-restarts=3",
      "--monitor-interval=0.1",
      "--rdzv-backend=c10d",
      "--rdzv-endpoint=127.0.0.1:0",
      script,
      join(folder, "checkpoint.pt"),
      ...[plan.steps, plan.checkpointEverySteps, plan.pauseMs].map(String),
    ],
    {
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...process.env, OMP_NUM_THREADS: "1", GLOO_SOCKET_IFNAME: "lo" },
    },
  );
  try {
    return await watch(agent, killAfter, rank);
  } finally {
    if (agent.exitCode === null) end(agent);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function watch(agent: ChildProcess, killAfter: number, rank: number) {
  let killedAt: number | undefined;
  let furthest = 0;
  let resumeMs: number | undefined;
  let begun: number | undefined;
  const deadline = setTimeout(() => end(agent), trialMs);
  createInterface({ input: agent.stdout! }).on("line", (text) => {
    if (!text.startsWith("{")) return;
    const line = JSON.parse(text) as Step;
    if (line.restart === 0) furthest = Math.max(furthest, line.step);
    else begun ??= line.step;
    if (killedAt === undefined && line.step >= killAfter && line.rank === rank) {
      killedAt = Date.now();
      process.kill(line.pid, "SIGKILL");
    } else if (killedAt !== undefined && line.restart > 0 && line.step > furthest) {
      resumeMs ??= line.at - killedAt;
    }
  });
  const code = await new Promise((resolve) => agent.on("exit", resolve));
  clearTimeout(deadline);
  if (code !== 0 || resumeMs === undefined || begun === undefined) return undefined;
  return { resumeMs, lost: Math.max(0, furthest + 1 - begun) };
}

/** Ends the agent and its workers, which are in their own sessions and outlive it. */
function end(agent: ChildProcess): void {
  const { stdout } = spawnSync("ps", ["-o", "pid=", "--ppid", String(agent.pid)], { encoding: "utf8" });
  agent.kill("SIGKILL");
  for (const pid of stdout.split(/\s+/).filter((text) => text !== "")) {
    try {
      process.kill(Number(pid), "SIGKILL");
    } catch {
      // The process has ended.
    }
  }
}
