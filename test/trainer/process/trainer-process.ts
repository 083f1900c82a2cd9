import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { ownerEnvironment } from "../../support/iam";
import type { TrainerCloud } from "./cloud";

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

/** The environment that the trainers of all runs have. */
export const trainerEnvironment = (cloud: TrainerCloud) => ({
  ...{ PATH: process.env["PATH"]!, HOME: process.env["HOME"] ?? "/", TMPDIR: cloud.directory },
  ...ownerEnvironment,
  ...{ AWS_ENDPOINT_URL: cloud.endpoint, AWS_REGION: "us-east-1", AWS_EC2_METADATA_DISABLED: "true" },
  ...{ RINGMASTER_TEAM: "default", RINGMASTER_BUCKET: "ringmaster", RINGMASTER_TABLE_GANGS: "Gangs" },
  ...{ RINGMASTER_INGEST_FUNCTION: "ingest", RINGMASTER_ADVERTISE_HOST: "127.0.0.1" },
});

export class TrainerProcess {
  readonly lines: LogLine[] = [];
  readonly errors: string[] = [];
  readonly ended: Promise<number | string>;
  private readonly child: ChildProcess;

  constructor(
    nodeArguments: readonly string[],
    cloud: TrainerCloud,
    runId: string,
    index: number,
    attempt = 1,
    segment = 0,
    environment: Readonly<Record<string, string>> = {},
  ) {
    this.child = spawn(process.execPath, [...nodeArguments], {
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...trainerEnvironment(cloud),
        AWS_BATCH_JOB_ID: `job-${runId}${segment === 0 ? "" : `-${segment}`}:${index}`,
        AWS_BATCH_JOB_ATTEMPT: String(attempt),
        AWS_BATCH_JOB_ARRAY_INDEX: String(index),
        RINGMASTER_RUN_ID: runId,
        RINGMASTER_SEGMENT: String(segment),
        ...environment,
      },
    });
    createInterface({ input: this.child.stdout! }).on("line", (line) => {
      // A container with several workers, or a command, adds lines of its own.
      if (!line.startsWith("{")) this.errors.push(line);
      else this.lines.push(JSON.parse(line) as LogLine);
    });
    createInterface({ input: this.child.stderr! }).on("line", (line) => this.errors.push(line));
    this.ended = new Promise((resolve) => {
      this.child.on("close", (code, signal) => resolve(code ?? signal ?? "unknown"));
    });
  }

  get pid(): number {
    return this.child.pid!;
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  said(message: string): readonly LogLine[] {
    return this.lines.filter((line) => line.message === message);
  }

  /** Waits for a line with that message, of that step or a later one. */
  async reached(message: string, step = 0): Promise<LogLine> {
    let hasEnded = false;
    void this.ended.then(() => {
      hasEnded = true;
    });
    for (;;) {
      const line = this.said(message).find((one) => Number(one["step"]) >= step);
      if (line !== undefined) return line;
      if (hasEnded) throw new Error(`It ended without '${message}' of step ${step}:\n${this.transcript()}`);
      await new Promise((tick) => setTimeout(tick, 5));
    }
  }

  transcript(): string {
    return [...this.lines.map((line) => JSON.stringify(line)), ...this.errors].join("\n");
  }
}
