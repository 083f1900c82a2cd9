import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { type CreateScheduleCommandInput, Scheduler } from "@aws-sdk/client-scheduler";
import { createScheduler, type SchedulerService } from "../../../local/scheduler";
import { ServiceError } from "../../../local/wire";
import { parseSchedule } from "../../../stack/timetable";
import { ManualClock } from "../../support/manual-clock";
import { temporaryFolder } from "../../support/temporary-folder";
import { serve } from "../support/served";
import { RecordingTargets, until } from "../support/targets";

const lambdaArn = "arn:aws:lambda:us-east-1:000000000000:function:drift";
const machineArn = "arn:aws:states:us-east-1:000000000000:stateMachine:retrain";
const hour = 3_600_000;

describe("scheduler", () => {
  const folder = temporaryFolder("scheduler");
  let directory: string;
  let clock: ManualClock;
  const targets = new RecordingTargets();
  let scheduler: SchedulerService;
  let served: Awaited<ReturnType<typeof serve>>;
  let client: Scheduler;

  const start = async () => {
    scheduler = createScheduler({
      dataDirectory: directory,
      clock,
      functions: targets.functions,
      startExecution: targets.startExecution,
      parseSchedule,
    });
    await scheduler.ready;
    served = await serve(scheduler);
    client = new Scheduler(served.connection);
  };
  const stop = async () => {
    client.destroy();
    await served.close();
  };
  beforeEach(async () => {
    directory = mkdtempSync(join(folder, "data-"));
    clock = new ManualClock(Date.parse("2026-01-01T00:00:00Z"));
    targets.reset();
    await start();
  });
  afterEach(() => stop());

  const base = {
    Name: "s",
    ScheduleExpression: "rate(1 hour)",
    FlexibleTimeWindow: { Mode: "OFF" as const },
    Target: { Arn: lambdaArn, RoleArn: "arn:role", Input: '{"monitor":"m-1"}' },
  };
  const create = (more: Partial<CreateScheduleCommandInput> = {}) => client.createSchedule({ ...base, ...more });
  const get = (Name = "s") => client.getSchedule({ Name });

  it("calls a function every hour when the clock is advanced", async () => {
    await create();
    clock.advance(hour - 1);
    expect(targets.invoked).toEqual([]);
    for (const count of [1, 2, 3]) {
      clock.advance(count === 1 ? 1 : hour);
      await until(() => targets.invoked.length === count && clock.pending === 1);
    }
    expect(targets.invoked[0]).toEqual({ monitor: "m-1" });
  });

  it("starts a state machine in the schedule's time zone, with a separate name for each firing", async () => {
    const Input = '{"at":"<aws.scheduler.scheduled-time>","by":"<aws.scheduler.schedule-arn>"}';
    await create({
      ScheduleExpression: "cron(0 3 * * ? *)",
      ScheduleExpressionTimezone: "Europe/Berlin",
      Target: { Arn: machineArn, RoleArn: "arn:role", Input },
    });
    clock.advance(2 * hour); // 03:00 in Berlin.
    await until(() => targets.started.length === 1 && clock.pending === 1);
    clock.advance(24 * hour);
    await until(() => targets.started.length === 2);
    expect(targets.started.map(({ input }) => input)).toEqual([
      { at: "2026-01-01T02:00:00Z", by: "arn:aws:scheduler:us-east-1:000000000000:schedule/default/s" },
      { at: "2026-01-02T02:00:00Z", by: "arn:aws:scheduler:us-east-1:000000000000:schedule/default/s" },
    ]);
    expect(new Set(targets.started.map(({ name }) => name)).size).toBe(2);
  });

  it("fires once at a given time, and is deleted if configured", async () => {
    const ScheduleExpression = "at(2026-01-01T05:00:00)";
    await create({ ScheduleExpression });
    const Target = { Arn: lambdaArn, RoleArn: "r" };
    await create({ Name: "brief", ScheduleExpression, ActionAfterCompletion: "DELETE", Target });
    clock.advance(5 * hour);
    await until(() => targets.invoked.length === 2 && clock.pending === 0);
    expect(targets.invoked).toContainEqual(
      expect.objectContaining({ source: "aws.scheduler", time: "2026-01-01T05:00:00Z" }),
    );
    expect((await get()).State).toBe("ENABLED");
    await expect(get("brief")).rejects.toMatchObject({ name: "ResourceNotFoundException" });
  });

  it("fires only between its dates, and stops when it is disabled", async () => {
    await create({ StartDate: new Date("2026-01-01T02:00:00Z"), EndDate: new Date("2026-01-01T03:00:00Z") });
    for (const count of [0, 1, 2, 2, 2]) {
      clock.advance(hour);
      await until(() => targets.invoked.length === count);
    }
    await client.updateSchedule({ ...base, ScheduleExpression: "rate(1 day)", State: "DISABLED" });
    clock.advance(48 * hour);
    expect(targets.invoked).toHaveLength(2);
    expect(clock.pending).toBe(0);
  });

  it("fires once after a restart for the firings that were due in the meantime", async () => {
    await create();
    await stop();
    clock.advance(5 * hour);
    await start();
    clock.advance(0);
    await until(() => targets.invoked.length === 1 && clock.pending === 1);
    clock.advance(hour);
    await until(() => targets.invoked.length === 2);
  });

  it("retries a failed delivery as often as its retry policy allows", async () => {
    await create({ Target: { ...base.Target, Arn: machineArn, RetryPolicy: { MaximumRetryAttempts: 1 } } });
    targets.failing = new ServiceError("ThrottlingException", 429, "slow down");
    clock.advance(hour);
    await until(() => clock.pending === 2);
    targets.failing = undefined;
    clock.advance(1_000);
    await until(() => targets.started.length === 1);
  });

  it("describes a schedule as it was created, and replaces it completely", async () => {
    const StartDate = new Date("2026-02-01T00:00:00Z");
    const { ScheduleArn } = await create({ StartDate, Description: "d" });
    expect(await get()).toMatchObject({
      ...base,
      Arn: ScheduleArn,
      GroupName: "default",
      StartDate,
      Description: "d",
      State: "ENABLED",
      ScheduleExpressionTimezone: "UTC",
      ActionAfterCompletion: "NONE",
      CreationDate: new Date("2026-01-01T00:00:00Z"),
    });
    clock.advance(1_000);
    await client.updateSchedule({ ...base, ScheduleExpression: "rate(2 hours)" });
    const updated = await get();
    expect(updated).toMatchObject({
      ScheduleExpression: "rate(2 hours)",
      LastModificationDate: new Date("2026-01-01T00:00:01Z"),
    });
    expect(updated.Description).toBeUndefined();
    await client.deleteSchedule({ Name: "s" });
    await expect(get()).rejects.toThrow("Schedule s does not exist.");
    expect(clock.pending).toBe(0);
  });

  it("creates one schedule for one client token", async () => {
    const { ScheduleArn } = await create({ ClientToken: "t-1" });
    expect((await create({ ClientToken: "t-1" })).ScheduleArn).toBe(ScheduleArn);
    await expect(create({ ClientToken: "t-2" })).rejects.toMatchObject({ name: "ConflictException" });
  });

  it("creates groups", async () => {
    await client.createScheduleGroup({ Name: "drift" });
    await expect(client.createScheduleGroup({ Name: "drift" })).rejects.toMatchObject({ name: "ConflictException" });
    await create({ GroupName: "drift" });
    await create({ GroupName: "drift", Name: "t", State: "DISABLED" });
    await create();
    const list = async (input: object) =>
      (await client.listSchedules(input)).Schedules!.map(({ GroupName, Name }) => `${GroupName}/${Name}`);
    expect(await list({})).toEqual(["default/s", "drift/s", "drift/t"]);
    expect(await list({ GroupName: "drift", State: "ENABLED" })).toEqual(["drift/s"]);
    expect(await list({ NamePrefix: "t" })).toEqual(["drift/t"]);
    const first = await client.listSchedules({ MaxResults: 2 });
    expect(await list({ NextToken: first.NextToken })).toEqual(["drift/t"]);
    expect((await client.listScheduleGroups({})).ScheduleGroups?.map(({ Name }) => Name)).toEqual(["default", "drift"]);
    await expect(create({ GroupName: "none" })).rejects.toThrow(/ScheduleGroup none does not exist/);
  });

  it.each([
    ["an expression", { ScheduleExpression: "rate(1 week)" }, /Invalid Schedule Expression/],
    ["a time zone", { ScheduleExpressionTimezone: "Mars/Olympus" }, /ScheduleExpressionTimezone is "Mars\/Olympus"/],
    [
      "a target",
      { Target: { Arn: "arn:aws:sqs:us-east-1:0:q", RoleArn: "r" } },
      /must be the ARN of a Lambda function or a state machine/,
    ],
    ["dates", { StartDate: new Date(2_000_000), EndDate: new Date(1_000_000) }, /EndDate must be after/],
    ["a name", { Name: "a b" }, /Name is 'a b'/],
    ["a window", { FlexibleTimeWindow: { Mode: "FLEXIBLE" as const } }, /MaximumWindowInMinutes/],
  ])("refuses %s that is not valid", async (_, input, message) => {
    await expect(create(input)).rejects.toMatchObject({
      name: "ValidationException",
      message: expect.stringMatching(message),
    });
  });

  it("refuses unimplemented settings", async () => {
    await expect(client.listTagsForResource({ ResourceArn: "arn:x" })).rejects.toThrow(/does not implement GET/);
  });
});
