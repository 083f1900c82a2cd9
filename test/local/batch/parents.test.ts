import { alive, pidOf, useBatchCloud } from "./cloud";

const cloud = useBatchCloud();

const children = (jobId: string, count: number, mark: string) =>
  Promise.all(Array.from({ length: count }, (_, index) => cloud.job(`${jobId}${mark}${index}`)));

describe("array jobs", () => {
  it("run a child for each index and succeed with the last", async () => {
    const id = await cloud.submit("echo $AWS_BATCH_JOB_ID $AWS_BATCH_JOB_ARRAY_INDEX/$AWS_BATCH_JOB_ARRAY_SIZE", {
      arrayProperties: { size: 3 },
    });
    const parent = await cloud.ended(id);
    expect(parent).toMatchObject({
      status: "SUCCEEDED",
      arrayProperties: { size: 3, statusSummary: { SUCCEEDED: 3, FAILED: 0 } },
    });
    for (const [index, child] of (await children(id, 3, ":")).entries()) {
      expect(child).toMatchObject({ status: "SUCCEEDED", arrayProperties: { index, size: 3 } });
      expect(cloud.output(child)).toEqual([`${id}:${index} ${index}/3`]);
    }
    expect(cloud.transitions(id)).toEqual(["SUBMITTED", "PENDING", "SUCCEEDED"]);
    expect(cloud.transitions(`${id}:2`)).toEqual(["SUBMITTED", "RUNNABLE", "STARTING", "RUNNING", "SUCCEEDED"]);
    const { jobSummaryList } = await cloud.client.listJobs({ arrayJobId: id, jobStatus: "SUCCEEDED" });
    expect(jobSummaryList?.map(({ arrayProperties }) => arrayProperties?.index)).toEqual([0, 1, 2]);
  });

  it("fail when a child does, after the others; children are retried separately", async () => {
    const script = "test $AWS_BATCH_JOB_ARRAY_INDEX != 1";
    const id = await cloud.submit(script, { arrayProperties: { size: 3 }, retryStrategy: { attempts: 2 } });
    expect(await cloud.ended(id)).toMatchObject({
      status: "FAILED",
      statusReason: "Array Child Job failed",
      arrayProperties: { statusSummary: { SUCCEEDED: 2, FAILED: 1 } },
    });
    expect((await children(id, 3, ":")).map(({ attempts }) => attempts?.length)).toEqual([1, 2, 1]);
  });

  it("are terminated with all of their jobs", async () => {
    const id = await cloud.submit("sleep 60", { arrayProperties: { size: 2 } });
    const running = await Promise.all([0, 1].map((index) => cloud.until(`${id}:${index}`, "RUNNING")));
    await cloud.client.terminateJob({ jobId: id, reason: "over" });
    expect(await cloud.ended(id)).toMatchObject({ status: "FAILED", statusReason: "over" });
    expect(running.map(pidOf).filter(alive)).toEqual([]);
  });
});

describe("multi-node jobs", () => {
  const gang = async (line: string, more: object = {}) => {
    const container = { image: "sh", command: [line], vcpus: 1, memory: 64 };
    const nodeProperties = { numNodes: 2, mainNode: 0, nodeRangeProperties: [{ targetNodes: "0:", container }] };
    const jobDefinition = await cloud.define({ jobDefinitionName: "gang", type: "multinode", nodeProperties });
    return cloud.submit("", { jobDefinition, nodeOverrides: { numNodes: 3 }, ...more });
  };
  const node = "$AWS_BATCH_JOB_NODE_INDEX";

  it("start the children after the main node, give only them its address, and end with it", async () => {
    const id = await gang(
      `echo "${node}/$AWS_BATCH_JOB_NUM_NODES \${AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS:-none}"; if [ ${node} = 0 ]; then sleep 2; else sleep 60; fi`,
    );
    const parent = await cloud.ended(id);
    expect(parent).toMatchObject({
      status: "SUCCEEDED",
      nodeProperties: { numNodes: 3, mainNode: 0 },
      attempts: [{ container: { exitCode: 0 } }],
    });
    const nodes = await children(id, 3, "#");
    expect(nodes.map((job) => cloud.output(job))).toEqual([["0/3 none"], ["1/3 127.0.0.1"], ["2/3 127.0.0.1"]]);
    expect(nodes.map(({ nodeDetails }) => nodeDetails)).toEqual(
      [0, 1, 2].map((nodeIndex) => ({ nodeIndex, isMainNode: nodeIndex === 0 })),
    );
    expect(nodes.map(({ status }) => status)).toEqual(["SUCCEEDED", "FAILED", "FAILED"]);
    expect(nodes[1]!.startedAt).toBeGreaterThanOrEqual(nodes[0]!.startedAt!);
    expect(nodes.map(pidOf).filter(alive)).toEqual([]);
    expect(cloud.transitions(id)).toEqual(["SUBMITTED", "RUNNABLE", "STARTING", "RUNNING", "SUCCEEDED"]);
    const { jobSummaryList } = await cloud.client.listJobs({ multiNodeJobId: id, jobStatus: "FAILED" });
    expect(jobSummaryList?.map(({ nodeProperties }) => nodeProperties?.nodeIndex)).toEqual([1, 2]);
  });

  it("make a new attempt of the whole gang when the main node fails", async () => {
    const id = await gang(`if [ ${node} = 0 ]; then sleep 0.2; test $AWS_BATCH_JOB_ATTEMPT = 2; else sleep 60; fi`, {
      retryStrategy: { attempts: 3 },
    });
    const parent = await cloud.ended(id);
    expect(parent).toMatchObject({
      status: "SUCCEEDED",
      attempts: [{ container: { exitCode: 1 } }, { container: { exitCode: 0 } }],
    });
    expect((await children(id, 3, "#")).map(({ attempts }) => attempts?.length)).toEqual([2, 2, 2]);
  });

  it("continue without a failed child", async () => {
    const id = await gang(`if [ ${node} = 0 ]; then sleep 0.4; else exit 3; fi`, { retryStrategy: { attempts: 3 } });
    expect(await cloud.ended(id)).toMatchObject({ status: "SUCCEEDED", attempts: [{}] });
    expect((await children(id, 3, "#")).map(({ status, attempts }) => [status, attempts?.length])).toEqual([
      ["SUCCEEDED", 1],
      ["FAILED", 1],
      ["FAILED", 1],
    ]);
  });

  it("are terminated with all of their jobs", async () => {
    const id = await gang("sleep 60", { retryStrategy: { attempts: 3 } });
    await cloud.until(`${id}#2`, "RUNNING");
    await cloud.client.terminateJob({ jobId: id, reason: "over" });
    expect(await cloud.ended(id)).toMatchObject({ status: "FAILED", statusReason: "over", isTerminated: true });
    expect((await children(id, 3, "#")).map(pidOf).filter(alive)).toEqual([]);
  });

  it("stay RUNNABLE on spot, with the reason", async () => {
    const id = await gang("true", { jobQueue: "spot" });
    const job = await cloud.until(id, "RUNNABLE");
    expect(job.statusReason ?? (await cloud.job(id)).statusReason).toMatch(
      /Multi-node parallel jobs do not run in Spot/,
    );
    const behind = await cloud.submit("true", { jobQueue: "spot" });
    expect((await cloud.ended(behind)).status).toBe("SUCCEEDED");
    await cloud.client.terminateJob({ jobId: id, reason: "never" });
    expect(await cloud.job(`${id}#1`)).toMatchObject({ status: "FAILED" });
  });
});
