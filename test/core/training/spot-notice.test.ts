import { takeSpotNotice } from "../../../core/training/job-event";
import { matchesPattern, parsePattern } from "../../../local/events/pattern";
import { rules } from "../../../platform/rules";
import { localWorld } from "../../../stack/settings";
import { type Calls, createTestPlatform, type TestPlatform as Platform, useEmbedded } from "../../support/embedded";
import { runOf } from "../../support/fixtures";

const at = "2026-01-01T00:10:00.000Z";

describe("a spot interruption warning", () => {
  const embedded = useEmbedded();
  let platform: Platform;
  let calls: Calls;
  beforeEach(() => {
    ({ platform, calls } = createTestPlatform(embedded));
  });

  async function training(runId: string, instanceId: string, team = "default", memberId = `${runId}-job:1/1`) {
    const { runs } = platform.forTeam(team);
    await runs.create(runOf(runId, { team }));
    await runs.recordMachine(runId, { memberId, instanceType: "g6.xlarge", instanceId });
    return runs;
  }
  const notices = () => calls.measured.filter(({ measures }) => "SpotNotices" in measures);

  it("is noted on the worker that runs there, and counted once for its team, however often it comes", async () => {
    const runs = await training("run-a", "i-a", "vision");
    await training("run-b", "i-b");
    const noted = [{ runId: "run-a", memberId: "run-a-job:1/1" }];
    expect(await takeSpotNotice(platform, "i-a", at)).toEqual(noted);
    expect(await takeSpotNotice(platform, "i-a", "2026-01-01T00:10:05.000Z")).toEqual([]);
    expect((await runs.findDetails("run-a"))?.machines).toMatchObject([{ interruptionNoticeAt: at }]);
    expect(notices()).toEqual([{ measures: { SpotNotices: 1 }, team: "vision" }]);
    expect((await platform.runs.findDetails("run-b"))?.machines[0]).not.toHaveProperty("interruptionNoticeAt");
  });

  it("is noted on every worker that shares the instance", async () => {
    const runs = await training("run-shared", "i-shared");
    await training("run-other", "i-shared", "vision");
    const second = { memberId: "run-shared-job:2/1", instanceType: "g6.xlarge", instanceId: "i-shared" };
    await runs.recordMachine("run-shared", second);
    expect(await takeSpotNotice(platform, "i-shared", at)).toHaveLength(3);
    expect(notices()).toHaveLength(3);
  });

  it("does not concern processes that ended on that instance before", async () => {
    const runs = await training("run-again", "i-again", "default", "job-again:0/1");
    const lost = { startedAt: 1, stoppedAt: 2, exitCode: 1 };
    await runs.recordWorker("run-again", {
      workerIndex: 0,
      jobId: "job-again:0",
      status: "RUNNING",
      attempts: [lost],
    });
    await runs.recordMachine("run-again", {
      memberId: "job-again:0/2",
      instanceType: "g6.xlarge",
      instanceId: "i-again",
    });
    await (await training("run-over", "i-again")).close("run-over", { status: "completed", at });
    expect(await takeSpotNotice(platform, "i-again", at)).toEqual([{ runId: "run-again", memberId: "job-again:0/2" }]);
  });

  it("for another program's instance has no effect, and costs one query", async () => {
    const send = jest.spyOn(embedded.dynamodb, "send");
    expect(await takeSpotNotice(platform, "i-foreign", at)).toEqual([]);
    expect(send).toHaveBeenCalledTimes(1);
    send.mockRestore();
    expect(notices()).toEqual([]);
  });

  it("reaches the function by its rule, as EC2 and the embedded Batch send it", () => {
    const rule = rules.find(({ name }) => name === "spot-interruption-warning")!;
    const pattern = parsePattern(JSON.stringify(rule.pattern!(localWorld())));
    const event = (detailType: string) => ({
      source: "aws.ec2",
      "detail-type": detailType,
      detail: { "instance-id": "i-1" },
    });
    expect(rule.target).toBe("finish-training");
    expect(matchesPattern(pattern, event("EC2 Spot Instance Interruption Warning"))).toBe(true);
    expect(matchesPattern(pattern, event("EC2 Instance State-change Notification"))).toBe(false);
  });
});
