import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { ownerEnvironment } from "../../test/support/iam";
import type { Trace } from "../../test/support/training-trace";

export interface LogLine {
  readonly time: string;
  readonly level: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

export interface WorkerOptions {
  readonly script: string;
  readonly endpoint: string;
  readonly directory: string;
  readonly runId: string;
  readonly workerIndex: number;
  readonly attempt: number;
  readonly clockOffsetMs?: number;
  readonly apart?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export class Worker {
  readonly memberId: string;
  readonly workerIndex: number;
  readonly starts: Mutable<Trace["starts"][number]>[] = [];
  readonly steps: Mutable<Trace["steps"][number]>[] = [];
  readonly lines: string[] = [];
  /** Messages of its log, in order, except those of steps. */
  readonly messages: string[] = [];
  readonly startedAt = Date.now();
  killedAt: number | undefined;
  disturbedAt: number | undefined;
  running = true;
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
  private readonly child: ChildProcess;

  constructor(
    private readonly options: WorkerOptions,
    onLine: (worker: Worker, line: LogLine) => void,
  ) {
    const { script, endpoint, directory, runId, workerIndex, attempt } = options;
    const job = `${runId}:${workerIndex}`;
    this.memberId = `${job}/${attempt}`;
    this.workerIndex = workerIndex;
    this.child = spawn(process.execPath, [...preloads(options), script], {
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: process.env["PATH"],
        HOME: process.env["HOME"],
        TMPDIR: directory,
        AWS_ENDPOINT_URL: endpoint,
        AWS_REGION: "us-east-1",
        ...ownerEnvironment,
        AWS_EC2_METADATA_DISABLED: "true",
        AWS_BATCH_JOB_ID: job,
        AWS_BATCH_JOB_ATTEMPT: String(attempt),
        AWS_BATCH_JOB_ARRAY_INDEX: String(workerIndex),
        RINGMASTER_RUN_ID: runId,
        RINGMASTER_TEAM: "default",
        RINGMASTER_BUCKET: "ringmaster",
        RINGMASTER_TABLE_GANGS: "Gangs",
        RINGMASTER_INGEST_FUNCTION: "ingest",
        RINGMASTER_ADVERTISE_HOST: "127.0.0.1",
        RINGMASTER_TRACE_STEPS: "1",
        ...options.environment,
      },
    });
    createInterface({ input: this.child.stdout! }).on("line", (text) => {
      this.lines.push(text);
      const line = JSON.parse(text) as LogLine;
      this.note(line);
      onLine(this, line);
    });
    createInterface({ input: this.child.stderr! }).on("line", (text) => this.lines.push(text));
    this.ended = new Promise((resolve) => {
      this.child.on("close", (code, signal) => {
        this.running = false;
        resolve(code ?? signal ?? "unknown");
      });
    });
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  kill(): void {
    this.killedAt = Date.now();
    this.child.kill("SIGKILL");
  }

  stop(): void {
    this.disturbedAt = Date.now();
    this.child.kill("SIGSTOP");
  }

  wake(): void {
    this.child.kill("SIGCONT");
  }

  private note(line: LogLine): void {
    const at = Date.parse(line.time) - (this.options.clockOffsetMs ?? 0);
    const generation = Number(line["generation"]);
    const step = Number(line["step"]);
    if (line.message === "step finished") this.steps.push({ generation, step, at });
    else this.messages.push(line.message);
    if (line.message === "generation started") {
      this.starts.push({ generation, step, at, worldSize: Number(line["worldSize"]) });
    }
  }
}

/** Returns scripts to run before the trainer, whose code does not know them. */
function preloads({ clockOffsetMs = 0, apart = false }: WorkerOptions): readonly string[] {
  const sources = [...(clockOffsetMs === 0 ? [] : [otherTime(clockOffsetMs)]), ...(apart ? [noLocalSockets] : [])];
  return sources.flatMap((source) => ["--import", `data:text/javascript,${encodeURIComponent(source)}`]);
}

/** Shifts the wall clock of the process; monotonic clocks are correct. */
const otherTime = (offsetMs: number) => `
const Real = Date;
const now = () => Real.now() + ${offsetMs};
globalThis.Date = class extends Real {
  constructor(...given) { if (given.length > 0) super(...given); else super(now()); }
  static now() { return now(); }
};`;

/** Hides local sockets, as if each worker had its own host. */
const noLocalSockets = `
import net from "node:net";
import { ownerEnvironment } from "../../test/support/iam";
const { connect } = net;
net.connect = (options, ...rest) =>
  connect(options?.path?.startsWith("\\0ringmaster-") ? { ...options, path: "\\0nobody" } : options, ...rest);`;
