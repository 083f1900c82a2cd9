import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  Batch,
  type JobDetail,
  type RegisterJobDefinitionRequest,
  type SubmitJobCommandInput,
} from "@aws-sdk/client-batch";
import { type BatchOptions, type BatchService, createBatch } from "../../../local/batch";
import { createFront } from "../../../local/front";
import type { EmittedEvent } from "../../../local/service";
import { testIam } from "../../support/iam";
import { startServer, type WebServer } from "../../support/web-server";
import { bundle } from "../lambda/bundle";

export const images = {
  sh: { command: ["/bin/sh", "-c"], environment: { FROM_IMAGE: "1" } },
  node: { command: [process.execPath, "-e"] },
};

export class BatchCloud {
  readonly directory = mkdtempSync(join(tmpdir(), "batch-"));
  readonly events: EmittedEvent[] = [];
  readonly lines: string[] = [];
  batch!: BatchService;
  client!: Batch;
  private server!: WebServer;
  private readonly hostPath = bundle("local/batch/host.ts", this.directory);

  async start(options: Partial<BatchOptions> = {}): Promise<void> {
    this.batch = createBatch({
      dataDirectory: join(this.directory, "data"),
      images,
      hostPath: this.hostPath,
      graceMs: 150,
      spotNoticeMs: 400,
      events: { put: (event) => this.events.push(event) },
      logs: {
        append: (group, stream, lines) =>
          this.lines.push(...lines.map(({ message }) => `${group} ${stream} ${message}`)),
      },
      ...options,
    });
    await this.batch.ready;
    this.server = await startServer(createFront([this.batch], testIam));
    this.connect(this.server.port);
  }

  connect(port: number): void {
    this.client = new Batch({
      endpoint: `http://127.0.0.1:${port}`,
      region: "us-east-1",
      credentials: testIam.owner,
      maxAttempts: 1,
    });
  }

  async setUp(): Promise<void> {
    for (const [name, type] of [
      ["spot", "SPOT"],
      ["steady", "EC2"],
    ] as const) {
      const computeResources = { type, maxvCpus: 64, minvCpus: 0, instanceTypes: ["g5.xlarge"], subnets: ["s"] };
      await this.client.createComputeEnvironment({ computeEnvironmentName: name, type: "MANAGED", computeResources });
      const computeEnvironmentOrder = [{ order: 1, computeEnvironment: name }];
      await this.client.createJobQueue({ jobQueueName: name, priority: 1, computeEnvironmentOrder });
    }
    for (const image of ["sh", "node"])
      await this.define({ jobDefinitionName: image, containerProperties: { image, vcpus: 1, memory: 64 } });
  }

  async define(request: Partial<RegisterJobDefinitionRequest> & { jobDefinitionName: string }): Promise<string> {
    const answer = await this.client.registerJobDefinition({ type: "container", ...request });
    return answer.jobDefinitionArn!;
  }

  /** Submits a shell line, or the fields of `more`. */
  async submit(command: string, more: Partial<SubmitJobCommandInput> = {}): Promise<string> {
    const containerOverrides = command === "" ? undefined : { command: [command] };
    const base = { jobName: "j", jobQueue: "steady", jobDefinition: "sh", containerOverrides };
    return (await this.client.submitJob({ ...base, ...more })).jobId!;
  }

  async job(jobId: string): Promise<JobDetail> {
    const { jobs } = await this.client.describeJobs({ jobs: [jobId] });
    return jobs![0]!;
  }

  async until(jobId: string, ...states: readonly string[]): Promise<JobDetail> {
    for (;;) {
      const job = await this.job(jobId);
      if (states.includes(job.status!)) return job;
      await new Promise((tick) => setTimeout(tick, 10));
    }
  }

  ended(jobId: string): Promise<JobDetail> {
    return this.until(jobId, "SUCCEEDED", "FAILED");
  }

  output(job: JobDetail): readonly string[] {
    const start = `/aws/batch/job ${job.container!.logStreamName} `;
    return this.lines.filter((line) => line.startsWith(start)).map((line) => line.slice(start.length));
  }

  transitions(jobId: string): readonly string[] {
    return this.events
      .map(({ detail }) => detail as JobDetail)
      .filter((detail) => detail.jobId === jobId)
      .map(({ status }) => status!);
  }

  async stop(): Promise<void> {
    this.client.destroy();
    await this.server.close();
    await this.batch.close();
  }

  remove(): void {
    rmSync(this.directory, { recursive: true });
  }
}

/** Runs a cloud for the tests of a file. */
export function useBatchCloud(options: Partial<BatchOptions> = {}): BatchCloud {
  const cloud = new BatchCloud();
  beforeAll(async () => {
    await cloud.start(options);
    await cloud.setUp();
  });
  afterAll(async () => {
    await cloud.stop();
    cloud.remove();
  });
  return cloud;
}

export function pidOf(job: JobDetail): number {
  return Number(/i-local-(\d+)$/.exec(job.container!.containerInstanceArn!)![1]);
}

export function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !existsSync("/proc/self/stat") || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
