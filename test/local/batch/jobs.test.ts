import { alive, pidOf, useBatchCloud } from "./cloud";

const cloud = useBatchCloud();

const all = ["SUBMITTED", "RUNNABLE", "STARTING", "RUNNING"];

describe("a job", () => {
  it("runs as a process with Batch's environment, and is described as Batch describes it", async () => {
    const line = "$AWS_BATCH_JOB_ID $AWS_BATCH_JOB_ATTEMPT $AWS_BATCH_JQ_NAME $AWS_BATCH_CE_NAME $FROM_IMAGE $X$SECRET";
    const command = [`echo "${line}"; echo err >&2; printf end`];
    process.env["SECRET"] = "of the stack";
    const containerOverrides = { command, environment: [{ name: "X", value: "x y" }] };
    const id = await cloud.submit("", { containerOverrides, tags: { run: "r-1" } });
    const job = await cloud.ended(id);
    delete process.env["SECRET"];
    expect(cloud.output(job)).toEqual(expect.arrayContaining([`${id} 1 steady steady 1 x y`, "err", "end"]));
    expect(job).toMatchObject({
      status: "SUCCEEDED",
      jobQueue: "arn:aws:batch:us-east-1:000000000000:job-queue/steady",
      jobDefinition: "arn:aws:batch:us-east-1:000000000000:job-definition/sh:1",
      statusReason: "Essential container in task exited",
      container: {
        exitCode: 0,
        image: "sh",
        resourceRequirements: [
          { type: "VCPU", value: "1" },
          { type: "MEMORY", value: "64" },
        ],
      },
      attempts: [{ container: { exitCode: 0 }, statusReason: "Essential container in task exited" }],
      isTerminated: false,
      tags: { run: "r-1" },
    });
    expect(job.container?.logStreamName).toMatch(/^sh\/default\/[\da-f]{32}$/);
    expect(job.createdAt).toBeLessThanOrEqual(job.startedAt!);
    expect(job.startedAt).toBeLessThanOrEqual(job.stoppedAt!);
    expect(cloud.transitions(id)).toEqual([...all, "SUCCEEDED"]);
    expect(cloud.events.at(-1)).toMatchObject({
      source: "aws.batch",
      detailType: "Batch Job State Change",
      resources: [`arn:aws:batch:us-east-1:000000000000:job/${id}`],
    });
  });

  it("is retried as often as its strategy allows, and records each attempt", async () => {
    const id = await cloud.submit("exit $AWS_BATCH_JOB_ATTEMPT", { retryStrategy: { attempts: 3 } });
    const job = await cloud.ended(id);
    expect(job.status).toBe("FAILED");
    expect(job.attempts?.map(({ container }) => container?.exitCode)).toEqual([1, 2, 3]);
    expect(new Set(job.attempts?.map(({ container }) => container?.logStreamName)).size).toBe(3);
    expect(cloud.transitions(id)).toEqual([...all, ...all.slice(1), ...all.slice(1), "FAILED"]);
  });

  it("ends as its rules say when a container could not start", async () => {
    const definitionOf = (jobDefinitionName: string, image: string) =>
      cloud.define({ jobDefinitionName, containerProperties: { image, vcpus: 1, memory: 4 } });
    const image = await definitionOf("noimage", "nowhere/none:1");
    const missing = await cloud.ended(await cloud.submit("", { jobDefinition: image }));
    expect(missing).toMatchObject({
      status: "FAILED",
      statusReason: "Task failed to start",
      container: { reason: expect.stringMatching(/^CannotPullContainerError/) },
    });
    const none = await definitionOf("nocommand", "void");
    Object.assign((await import("./cloud")).images, { void: { command: [] } });
    const failed = await cloud.ended(await cloud.submit("/no/such/file", { jobDefinition: none }));
    expect(failed).toMatchObject({
      statusReason: "Task failed to start",
      container: { reason: expect.stringMatching(/^CannotStartContainerError.*ENOENT/) },
    });
    expect(failed.container?.exitCode).toBeUndefined();
  });

  it("exits with 137 after a kill from outside, with all of its processes", async () => {
    const id = await cloud.submit("sleep 60 & echo $!; wait");
    const running = await cloud.until(id, "RUNNING");
    while (cloud.output(await cloud.job(id)).length === 0) await new Promise((tick) => setTimeout(tick, 5));
    process.kill(pidOf(running), "SIGKILL");
    const job = await cloud.ended(id);
    expect(job).toMatchObject({ status: "FAILED", container: { exitCode: 137 } });
    const grandchild = Number(cloud.output(job)[0]);
    while (alive(grandchild)) await new Promise((tick) => setTimeout(tick, 5));
  });
});

describe("termination", () => {
  const terminate = (jobId: string, reason = "enough") => cloud.client.terminateJob({ jobId, reason });

  it("sends SIGTERM; a job that obeys it has still failed, and is not retried", async () => {
    const id = await cloud.submit("trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.02; done", {
      retryStrategy: { attempts: 5 },
    });
    await cloud.until(id, "RUNNING");
    while (cloud.output(await cloud.job(id)).length === 0) await new Promise((tick) => setTimeout(tick, 5));
    await terminate(id);
    const job = await cloud.ended(id);
    expect(job).toMatchObject({
      status: "FAILED",
      statusReason: "enough",
      isTerminated: true,
      container: { exitCode: 0 },
    });
    expect(job.attempts).toHaveLength(1);
    expect(cloud.output(job)).toContain("bye");
  });

  it("sends SIGKILL after the grace period", async () => {
    const id = await cloud.submit("trap '' TERM; while :; do sleep 0.02; done");
    await cloud.until(id, "RUNNING");
    await terminate(id);
    expect((await cloud.ended(id)).container?.exitCode).toBe(137);
  });

  it("ends a waiting job without starting it, and has no effect on an ended job", async () => {
    const containerOverrides = { resourceRequirements: [{ type: "VCPU" as const, value: "65" }] };
    const waiting = await cloud.submit("", { containerOverrides });
    await cloud.until(waiting, "RUNNABLE");
    await terminate(waiting);
    await terminate(waiting, "again");
    expect(await cloud.job(waiting)).toMatchObject({ status: "FAILED", statusReason: "enough", attempts: [] });
  });
});

describe("lists", () => {
  it("by state, by filter, and in pages", async () => {
    const id = await cloud.submit("sleep 60", { jobName: "listed-one" });
    await cloud.until(id, "RUNNING");
    const list = (input: object) => cloud.client.listJobs({ jobQueue: "steady", ...input });
    expect((await list({})).jobSummaryList?.map(({ jobId }) => jobId)).toEqual([id]);
    const filtered = await list({ filters: [{ name: "JOB_NAME", values: ["LISTED*"] }] });
    expect(filtered.jobSummaryList).toMatchObject([{ jobId: id, status: "RUNNING" }]);
    await cloud.client.terminateJob({ jobId: id, reason: "done" });
    await cloud.ended(id);
    const seen: string[] = [];
    for (let nextToken: string | undefined; ; ) {
      const page = await list({ jobStatus: "FAILED", maxResults: 2, nextToken });
      seen.push(...page.jobSummaryList!.map(({ jobId }) => jobId!));
      nextToken = page.nextToken;
      if (!nextToken) break;
    }
    expect(seen).toEqual((await list({ jobStatus: "FAILED" })).jobSummaryList?.map(({ jobId }) => jobId));
    expect(seen.length).toBeGreaterThan(4);
  });
});
