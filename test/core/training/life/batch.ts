import type { JobOutcome } from "../../../../core/runs/attempts";
import { JobRefusedError } from "../../../../core/runs/errors";
import { type JobRequest, jobNameOf } from "../../../../core/runs/ports";

export interface ModelJob {
  readonly jobId: string;
  readonly name: string;
  readonly request: JobRequest;
  readonly submittedAt: number;
  startedAt?: number;
  status: "RUNNABLE" | "RUNNING" | "SUCCEEDED" | "FAILED";
  reason?: string;
}

/** ListJobs may miss a job that was just submitted. */
const visibleAfterMs = 1_000;

/** AWS Batch, as far as a run meets it. A name is no key: who submits twice has two jobs. */
export class ModelBatch {
  readonly jobs: ModelJob[] = [];

  constructor(
    private readonly now: () => number,
    private readonly onEnd: (job: ModelJob) => void,
    private readonly refusedFrom: number,
  ) {}

  find(request: JobRequest): string | undefined {
    const name = jobNameOf(request);
    return this.jobs.find((job) => job.name === name && this.now() - job.submittedAt >= visibleAfterMs)?.jobId;
  }

  submit(request: JobRequest): { readonly jobId: string } {
    const name = jobNameOf(request);
    if (this.jobs.length + 1 >= this.refusedFrom) throw new JobRefusedError(name, "the model refuses it");
    const jobId = `job-${this.jobs.length + 1}`;
    this.jobs.push({ jobId, name, request, submittedAt: this.now(), status: "RUNNABLE" });
    return { jobId };
  }

  describe(jobId: string): JobOutcome {
    const job = this.jobs.find((one) => one.jobId === jobId);
    if (!job) return { status: "failed", hostLoss: false, reason: "unknown" };
    if (job.status === "SUCCEEDED") return { status: "succeeded", hostLoss: false };
    if (job.status !== "FAILED") return { status: "running", hostLoss: false };
    return { status: "failed", hostLoss: job.reason?.startsWith("Host EC2") === true, reason: job.reason };
  }

  terminate(jobId: string): void {
    const job = this.jobs.find((one) => one.jobId === jobId);
    if (job) this.end(job, "FAILED", "terminated");
  }

  end(job: ModelJob, status: "SUCCEEDED" | "FAILED", reason?: string): void {
    if (!this.isLive(job)) return;
    job.status = status;
    job.reason = reason;
    this.onEnd(job);
  }

  isLive = (job: ModelJob): boolean => job.status === "RUNNABLE" || job.status === "RUNNING";

  live(): readonly ModelJob[] {
    return this.jobs.filter(this.isLive);
  }
}
