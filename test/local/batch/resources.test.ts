import type { SubmitJobCommandInput } from "@aws-sdk/client-batch";
import { useBatchCloud } from "./cloud";

const cloud = useBatchCloud();

describe("compute environments and queues", () => {
  it("are described as created, and keep their references", async () => {
    const { jobQueues } = await cloud.client.describeJobQueues({ jobQueues: ["spot"] });
    const computeEnvironment = "arn:aws:batch:us-east-1:000000000000:compute-environment/spot";
    expect(jobQueues).toMatchObject([
      {
        jobQueueName: "spot",
        state: "ENABLED",
        status: "VALID",
        computeEnvironmentOrder: [{ order: 1, computeEnvironment }],
      },
    ]);
    const { computeEnvironments } = await cloud.client.describeComputeEnvironments({});
    expect(computeEnvironments?.map(({ computeEnvironmentName: name }) => name).sort()).toEqual(["spot", "steady"]);
  });

  it("limit concurrent jobs, first in, first out", async () => {
    const computeResources = { type: "EC2" as const, maxvCpus: 1, subnets: ["s"] };
    await cloud.client.createComputeEnvironment({
      computeEnvironmentName: "narrow",
      type: "MANAGED",
      computeResources,
    });
    const computeEnvironmentOrder = [{ order: 1, computeEnvironment: "narrow" }];
    await cloud.client.createJobQueue({ jobQueueName: "narrow", priority: 1, computeEnvironmentOrder });
    const ids = [];
    for (let index = 0; index < 3; index += 1) ids.push(await cloud.submit("sleep 0.05", { jobQueue: "narrow" }));
    const jobs = await Promise.all(ids.map((id) => cloud.ended(id)));
    expect(jobs[1]!.startedAt).toBeGreaterThanOrEqual(jobs[0]!.stoppedAt!);
    expect(jobs[2]!.startedAt).toBeGreaterThanOrEqual(jobs[1]!.stoppedAt!);
    const resourceRequirements = [{ type: "VCPU" as const, value: "2" }];
    const large = await cloud.submit("", {
      jobQueue: "narrow",
      containerOverrides: { command: ["true"], resourceRequirements },
    });
    await cloud.until(large, "RUNNABLE");
    while (!(await cloud.job(large)).statusReason?.startsWith("MISCONFIGURATION"))
      await new Promise((tick) => setTimeout(tick, 5));
    await cloud.client.terminateJob({ jobId: large, reason: "never" });
  });

  it("a disabled queue takes no jobs", async () => {
    const computeEnvironmentOrder = [{ order: 1, computeEnvironment: "steady" }];
    await cloud.client.createJobQueue({ jobQueueName: "brief", priority: 1, computeEnvironmentOrder });
    await cloud.client.updateJobQueue({ jobQueue: "brief", state: "DISABLED" });
    await expect(cloud.submit("true", { jobQueue: "brief" })).rejects.toThrow(/DISABLED/);
  });

  it("a fair-share queue requires a share identifier and prefers the share with the least use", async () => {
    const { arn } = await cloud.client.createSchedulingPolicy({
      name: "fair",
      fairsharePolicy: { shareDistribution: [] },
    });
    const computeResources = { type: "EC2" as const, maxvCpus: 2, subnets: ["s"] };
    await cloud.client.createComputeEnvironment({ computeEnvironmentName: "two", type: "MANAGED", computeResources });
    const computeEnvironmentOrder = [{ order: 1, computeEnvironment: "two" }];
    await cloud.client.createJobQueue({
      jobQueueName: "fair",
      priority: 1,
      schedulingPolicyArn: arn,
      computeEnvironmentOrder,
    });
    await expect(cloud.submit("true", { jobQueue: "fair" })).rejects.toThrow(/shareIdentifier must be given/);
    await expect(cloud.submit("true", { shareIdentifier: "a" })).rejects.toThrow(/no scheduling policy/);
    const submit = (shareIdentifier: string, line: string) => cloud.submit(line, { jobQueue: "fair", shareIdentifier });
    const hold = [await submit("a", "sleep 60"), await submit("a", "sleep 60")];
    await Promise.all(hold.map((id) => cloud.until(id, "RUNNING")));
    const greedy = await submit("a", "true");
    const modest = await submit("b", "sleep 0.1");
    await cloud.client.terminateJob({ jobId: hold[0]!, reason: "room" });
    const [late, early] = [await cloud.ended(greedy), await cloud.ended(modest)];
    expect(late.startedAt).toBeGreaterThanOrEqual(early.stoppedAt!);
    await cloud.client.terminateJob({ jobId: hold[1]!, reason: "room" });
  });
});

describe("job definitions", () => {
  it("count revisions; a name means the latest active one", async () => {
    const container = (word: string) => ({ image: "sh", command: [`echo ${word}`], vcpus: 1, memory: 4 });
    const arns = [];
    for (const word of ["one", "two"])
      arns.push(await cloud.define({ jobDefinitionName: "d", containerProperties: container(word) }));
    expect(arns.map((arn) => arn.split(":").at(-1))).toEqual(["1", "2"]);
    const said = async (jobDefinition: string) =>
      cloud.output(await cloud.ended(await cloud.submit("", { jobDefinition })));
    expect([await said("d"), await said("d:1"), await said(arns[0]!)]).toEqual([["two"], ["one"], ["one"]]);
    await expect(cloud.submit("", { jobDefinition: "d:3" })).rejects.toThrow(/not active/);
    const active = await cloud.client.describeJobDefinitions({ jobDefinitionName: "d", status: "ACTIVE" });
    expect(active.jobDefinitions).toMatchObject([
      { revision: 2, status: "ACTIVE", type: "container" },
      { revision: 1 },
    ]);
    expect((await cloud.client.describeJobDefinitions({ jobDefinitions: [arns[1]!] })).jobDefinitions).toMatchObject([
      { revision: 2, status: "ACTIVE" },
    ]);
    expect(await cloud.define({ jobDefinitionName: "d", containerProperties: container("three") })).toMatch(/:3$/);
  });

  it("are refused if they cannot run", async () => {
    const register = (input: object) =>
      cloud.client.registerJobDefinition({ jobDefinitionName: "bad", type: "container", ...input });
    await expect(register({})).rejects.toThrow(/containerProperties must not be null/);
    await expect(register({ type: "multinode" })).rejects.toThrow(/nodeProperties must not be null/);
    await expect(register({ jobDefinitionName: "no good" })).rejects.toThrow(/jobDefinitionName \(it is "no good"\)/);
    const retryStrategy = { attempts: 11 };
    await expect(register({ retryStrategy, containerProperties: { image: "sh" } })).rejects.toMatchObject({
      name: "ClientException",
      message: expect.stringContaining("retryStrategy.attempts (it is 11)"),
    });
  });
});

describe("bad submissions", () => {
  const cases: readonly [string, Partial<SubmitJobCommandInput>, RegExp][] = [
    ["an unknown queue", { jobQueue: "none" }, /JobQueue none does not exist/],
    ["an unknown definition", { jobDefinition: "none" }, /JobDefinition none is not found/],
    ["a name that is none", { jobName: "a b" }, /jobName/],
    ["an array of one", { arrayProperties: { size: 1 } }, /arrayProperties\.size \(it is 1\)/],
    ["a timeout below 60 s", { timeout: { attemptDurationSeconds: 59 } }, /attemptDurationSeconds \(it is 59\)/],
    ["a dependency", { dependsOn: [{ jobId: "none" }] }, /dependsOn .* is not implemented/],
    ["overrides past 8 KiB", { containerOverrides: { command: ["x".repeat(8200)] } }, /8192/],
    ["node overrides of a plain job", { nodeOverrides: { numNodes: 2 } }, /nodeOverrides/],
    [
      "a retry rule of no known action",
      { retryStrategy: { attempts: 2, evaluateOnExit: [{ action: "MAYBE" as "RETRY" }] } },
      /RETRY or EXIT/,
    ],
  ];
  it.each(cases)("%s", async (_, input, message) => {
    await expect(cloud.submit("true", input)).rejects.toMatchObject({
      name: "ClientException",
      message: expect.stringMatching(message),
    });
  });
  it("unimplemented fields are refused, not ignored", async () => {
    await expect(cloud.client.listConsumableResources({})).rejects.toThrow(/does not implement/);
    await expect(cloud.client.terminateJob({ jobId: "none", reason: "r" })).rejects.toThrow(/does not exist/);
  });
});
