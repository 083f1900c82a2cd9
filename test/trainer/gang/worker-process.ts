import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { WorkerOptions, WorkerReport } from "./worker";

type Step = Extract<WorkerReport, { kind: "step" }>;
type Outcome = Extract<WorkerReport, { kind: "outcome" }>;

/** A running worker as the test sees it: its reports, and the signals that befall it. */
export class WorkerProcess {
  readonly steps: Step[] = [];
  readonly log: string[] = [];
  /** `undefined` where it was killed. */
  readonly ended: Promise<Outcome | undefined>;
  private outcome: Outcome | undefined;
  private readonly child: ChildProcess;
  private readonly watchers = new Set<() => void>();

  constructor(script: string, options: WorkerOptions) {
    this.child = spawn(process.execPath, [script, JSON.stringify(options)], { stdio: ["ignore", "pipe", "pipe"] });
    createInterface({ input: this.child.stdout! }).on("line", (line) => {
      const report = JSON.parse(line) as WorkerReport;
      if (report.kind === "step") this.steps.push(report);
      else this.outcome = report;
      for (const look of this.watchers) look();
    });
    createInterface({ input: this.child.stderr! }).on("line", (line) => this.log.push(line));
    this.ended = new Promise((resolve) => {
      this.child.on("close", () => {
        for (const look of this.watchers) look();
        resolve(this.outcome);
      });
    });
  }

  /** Resolves at the first step report for which `condition` holds; rejects where the worker ends before. */
  reached(condition: (step: Step) => boolean): Promise<Step> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const step = this.steps.find(condition);
        if (step) resolve(step);
        else if (this.child.exitCode === null && this.child.signalCode === null) return;
        else reject(new Error(`the worker ended first:\n${this.log.join("\n")}`));
        this.watchers.delete(look);
      };
      this.watchers.add(look);
      look();
    });
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }
}
