import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  EventBridge,
  type PutEventsRequestEntry,
  type PutRuleCommandInput,
  type Target,
} from "@aws-sdk/client-eventbridge";
import { createEvents, type EventsService } from "../../../local/events";
import { Journal, readJournal } from "../../../local/storage/journal";
import { ServiceError } from "../../../local/wire";
import { parseSchedule } from "../../../stack/timetable";
import { ManualClock } from "../../support/manual-clock";
import { temporaryFolder } from "../../support/temporary-folder";
import { serve } from "../support/served";
import { RecordingTargets, until } from "../support/targets";

const lambdaArn = "arn:aws:lambda:us-east-1:000000000000:function:sink";
const machineArn = "arn:aws:states:us-east-1:000000000000:stateMachine:retrain";

describe("events", () => {
  const root = temporaryFolder("events");
  let directory: string;
  const clock = new ManualClock(Date.parse("2026-01-01T00:00:00Z"));
  const targets = new RecordingTargets();
  let events: EventsService;
  let served: Awaited<ReturnType<typeof serve>>;
  let client: EventBridge;

  const start = async () => {
    events = createEvents({
      dataDirectory: directory,
      clock,
      functions: targets.functions,
      startExecution: targets.startExecution,
      parseSchedule,
    });
    await events.ready;
    served = await serve(events);
    client = new EventBridge(served.connection);
  };
  const stop = async () => {
    client.destroy();
    await served.close();
  };
  beforeEach(async () => {
    directory = mkdtempSync(join(root, "data-"));
    targets.reset();
    await start();
  });
  afterEach(() => stop());

  const rule = async (name: string, what: Partial<PutRuleCommandInput>, ...targets: readonly Target[]) => {
    await client.putRule({ Name: name, ...what });
    if (targets.length > 0) await client.putTargets({ Rule: name, Targets: [...targets] });
  };
  const put = (...Entries: PutEventsRequestEntry[]) => client.putEvents({ Entries });
  const failed = (code: number) => ({ Source: "test", DetailType: "Run ended", Detail: JSON.stringify({ code }) });

  it("delivers a matching event to a function and to a state machine", async () => {
    const pattern = JSON.stringify({ source: ["test"], detail: { code: [137] } });
    await rule(
      "failures",
      { EventPattern: pattern },
      { Id: "f", Arn: lambdaArn },
      { Id: "m", Arn: machineArn, RoleArn: "arn:role", Input: '{"exit":137}' },
    );
    const { FailedEntryCount, Entries } = await put(failed(0), failed(137));
    expect(FailedEntryCount).toBe(0);
    await until(() => targets.invoked.length === 1 && targets.started.length === 1);
    expect(targets.invoked).toEqual([
      {
        ...{ version: "0", id: Entries![1]!.EventId, "detail-type": "Run ended", source: "test", resources: [] },
        ...{ account: "000000000000", time: "2026-01-01T00:00:00Z", region: "us-east-1", detail: { code: 137 } },
      },
    ]);
    expect(targets.started).toEqual([
      { arn: machineArn, input: { exit: 137 }, name: expect.stringMatching(/^[\da-f]{64}$/) },
    ]);
  });

  it("takes what services emit", async () => {
    await rule("batch", { EventPattern: '{"source":["aws.batch"]}' }, { Id: "f", Arn: lambdaArn });
    const event = { source: "aws.batch", resources: ["arn:job"], detail: { status: "FAILED" } };
    events.put({ ...event, detailType: "Batch Job State Change" });
    await until(() => targets.invoked.length === 1);
    expect(targets.invoked).toMatchObject([event]);
  });

  it("answers for each entry by itself", async () => {
    const Time = new Date("2025-12-31T23:00:00Z");
    await rule("all", { EventPattern: '{"source":["test"]}' }, { Id: "f", Arn: lambdaArn });
    const answer = await put(
      { ...failed(1), Time },
      { ...failed(1), Detail: "[]" },
      { ...failed(1), Detail: undefined },
      { ...failed(1), Source: "aws.batch" },
      { ...failed(1), EventBusName: "other" },
    );
    expect(answer.FailedEntryCount).toBe(4);
    expect(answer.Entries?.map(({ ErrorCode }) => ErrorCode)).toEqual([
      undefined,
      "MalformedDetail",
      "InvalidArgument",
      "NotAuthorizedForSourceException",
      "ResourceNotFoundException",
    ]);
    await until(() => targets.invoked.length === 1);
    expect(targets.invoked).toMatchObject([{ time: "2025-12-31T23:00:00Z" }]);
    await expect(put(...Array(11).fill(failed(1)))).rejects.toMatchObject({ name: "ValidationException" });
  });

  it("tries a target again that is out of order, and not one that refuses", async () => {
    await rule("all", { EventPattern: '{"source":["test"]}' }, { Id: "m", Arn: machineArn });
    targets.failing = new ServiceError("ThrottlingException", 429, "slow down");
    await put(failed(1));
    await until(() => clock.pending === 1);
    targets.failing = undefined;
    clock.advance(1_000);
    await until(() => targets.started.length === 1);
    targets.failing = new ServiceError("StateMachineDoesNotExist", 400, "gone");
    await put(failed(2));
    const letters = join(directory, "events-dead-letters.ndjson");
    await until(() => existsSync(letters));
    expect(JSON.parse(readFileSync(letters, "utf8"))).toMatchObject({
      item: { arn: machineArn },
      error: "StateMachineDoesNotExist: gone",
    });
    // An execution that was already started under this event's name counts as delivered.
    targets.failing = Object.assign(new Error("again"), { name: "ExecutionAlreadyExists" });
    await put(failed(3));
    await stop();
    await start();
    expect(readFileSync(letters, "utf8").split("\n")).toHaveLength(2);
  });

  it("delivers after a restart what was accepted before it, to the same execution", async () => {
    await rule("all", { EventPattern: '{"source":["test"]}' }, { Id: "m", Arn: machineArn });
    targets.failing = new Error("connection refused");
    await put(failed(1));
    await until(() => clock.pending === 1);
    await stop();
    targets.failing = undefined;
    await start();
    clock.advance(1_000);
    await until(() => targets.started.length === 1);
    expect(targets.started[0]!.name).toMatch(/^[\da-f]{64}$/);
  });

  it("keeps events that came before it was ready, and those that a kill left in the journal", async () => {
    await rule("all", { EventPattern: '{"source":["test"]}' }, { Id: "f", Arn: lambdaArn });
    await stop();
    const { appendFileSync } = await import("node:fs");
    const path = join(directory, "events-journal.ndjson");
    const killed = new Journal(path);
    killed.append([{ id: "e", source: "test", "detail-type": "d", resources: [], detail: { n: 1 } }]);
    killed.close();
    appendFileSync(path, '12345678 [{"id":"cut","sour');
    const starting = start();
    events.put({ source: "test", detailType: "d", resources: [], detail: { n: 2 } });
    await starting;
    await until(() => targets.invoked.length === 2);
    const numbers = (targets.invoked as { detail: { n: number } }[]).map(({ detail }) => detail.n);
    expect(numbers.sort()).toEqual([1, 2]);
    await until(() => readJournal(path).lines.length === 0);
  });

  it("fires rules with a schedule by the clock, and once for what fell due while it was down", async () => {
    await rule("hourly", { ScheduleExpression: "rate(1 hour)" }, { Id: "f", Arn: lambdaArn });
    clock.advance(3_599_000);
    expect(targets.invoked).toEqual([]);
    clock.advance(1_000);
    await until(() => targets.invoked.length === 1);
    expect(targets.invoked[0]).toMatchObject({
      source: "aws.events",
      "detail-type": "Scheduled Event",
      resources: ["arn:aws:events:us-east-1:000000000000:rule/hourly"],
      detail: {},
    });
    await until(() => clock.pending === 1);
    await stop();
    clock.advance(3 * 3_600_000);
    await start();
    clock.advance(0);
    await until(() => targets.invoked.length === 2);
    await rule("hourly", { ScheduleExpression: "rate(1 hour)", State: "DISABLED" });
    await until(() => clock.pending === 0);
    clock.advance(3_600_000);
    expect(targets.invoked).toHaveLength(2);
  });

  it("keeps rules and targets", async () => {
    const { RuleArn } = await client.putRule({
      Name: "r-1",
      EventPattern: '{"source":["a"]}',
      Description: "d",
      State: "DISABLED",
    });
    expect(RuleArn).toBe("arn:aws:events:us-east-1:000000000000:rule/r-1");
    await client.putTargets({ Rule: "r-1", Targets: [{ Id: "1", Arn: lambdaArn, Input: "{}" }] });
    await rule("r-2", { ScheduleExpression: "cron(0 3 * * ? *)" });
    const first = await client.listRules({ Limit: 1 });
    expect(first.Rules).toMatchObject([
      { Name: "r-1", State: "DISABLED", Description: "d", EventPattern: '{"source":["a"]}', EventBusName: "default" },
    ]);
    const second = await client.listRules({ NextToken: first.NextToken });
    expect([...first.Rules!, ...second.Rules!].map(({ Name }) => Name)).toEqual(["r-1", "r-2"]);
    expect((await client.listRules({ NamePrefix: "r-2" })).Rules).toMatchObject([
      { ScheduleExpression: "cron(0 3 * * ? *)" },
    ]);
    const put2 = (Id: string) => client.putTargets({ Rule: "r-1", Targets: [{ Id, Arn: machineArn }] });
    await Promise.all([put2("2"), put2("3")]);
    await rule("r-1", { EventPattern: '{"source":["a"]}' });
    await put({ ...failed(1), Source: "a" });
    await until(() => targets.invoked.length === 1 && targets.started.length === 2);
  });

  it("refuses what EventBridge refuses, and what it does not implement", async () => {
    const putRule = (input: object) => client.putRule({ Name: "bad", ...input });
    await expect(putRule({})).rejects.toThrow(/must be specified/);
    await expect(putRule({ EventPattern: "{}" })).rejects.toMatchObject({ name: "InvalidEventPatternException" });
    const deep = `${'{"a":'.repeat(5_000)}["x"]${"}".repeat(5_000)}`;
    await expect(putRule({ EventPattern: deep })).rejects.toThrow(/it must be at most 80 levels deep/);
    await expect(putRule({ ScheduleExpression: "rate(1 week)" })).rejects.toThrow(/ScheduleExpression is not valid/);
    await expect(putRule({ ScheduleExpression: "at(2026-01-01T00:00:00)" })).rejects.toThrow(/Scheduler/);
    await expect(putRule({ Name: "a b", EventPattern: '{"source":["a"]}' })).rejects.toThrow(/Name is "a b"/);
    await expect(putRule({ EventPattern: '{"source":["a"]}', EventBusName: "other" })).rejects.toMatchObject({
      name: "ResourceNotFoundException",
    });
    const target = (Arn: string, more: object = {}) =>
      client.putTargets({ Rule: "good", Targets: [{ Id: "1", Arn, ...more }] });
    await expect(target(lambdaArn)).rejects.toMatchObject({ name: "ResourceNotFoundException" });
    await rule("good", { EventPattern: '{"source":["a"]}' });
    await expect(target("arn:aws:sqs:us-east-1:0:queue")).rejects.toThrow(/Lambda functions and state machines only/);
    await expect(target(lambdaArn, { Input: "{" })).rejects.toThrow(/JSON syntax/);
    await expect(target(lambdaArn, { InputPath: "$.a" })).rejects.toThrow(
      /Target 1: InputPath is not implemented by the embedded EventBridge, which implements Id, Arn, RoleArn, Input/,
    );
    await expect(target(lambdaArn, { InputTransformer: { InputTemplate: "{}" } })).rejects.toThrow(
      /InputTransformer is not implemented/,
    );
    await expect(client.createArchive({ ArchiveName: "a", EventSourceArn: "b" })).rejects.toThrow(
      /does not implement CreateArchive/,
    );
  });
});
