import { Match, type Template } from "aws-cdk-lib/assertions";
import { matchesPattern, parsePattern } from "../../local/events/pattern";
import { localWorld } from "../../local/ringmaster/settings";
import { parseDriftAlarmName } from "../../platform/retraining";
import { rules } from "../../platform/rules";
import { textOf } from "./policies";
import { type Synthesized, synthesizePlatform, withoutAssets } from "./synthesized";

let platform: Synthesized;
let triggers: Template;
beforeAll(() => {
  platform = synthesizePlatform(withoutAssets);
  triggers = platform.template("triggers");
});
afterAll(() => platform.remove());

const patternOf = (name: string) =>
  parsePattern(JSON.stringify(rules.find((rule) => rule.name === name)!.pattern!(localWorld())));
const object = (key: string, bucket = "ringmaster-data") => ({
  source: "aws.s3",
  "detail-type": "Object Created",
  detail: { bucket: { name: bucket }, object: { key } },
});

describe("the triggers of the function that retrains", () => {
  it.each([
    ["teams/vision/datasets/digits/versions/2/manifest.json", true],
    ["teams/default/datasets/a/versions/10/manifest.json", true],
    ["teams/vision/cas/sha256/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", false],
    ["teams/vision/runs/run-1/artifacts/manifest.json", false],
    ["teams/vision/runs/run-1/checkpoints/000000000020/manifest.json", false],
    ["teams/vision/features/f00/manifest.json", false],
  ])("of the bucket's objects: %s %s", (key, wakes) => {
    expect(matchesPattern(patternOf("dataset-version-made"), object(key))).toBe(wakes);
    expect(matchesPattern(patternOf("dataset-version-made"), object(key, "another-bucket"))).toBe(false);
  });

  it("are drift alarms, by their name", () => {
    const alarm = (alarmName: string, value: string) => ({
      source: "aws.cloudwatch",
      "detail-type": "CloudWatch Alarm State Change",
      detail: { alarmName, state: { value } },
    });
    const name = "ringmaster-drift-team-a.model-b";
    expect(parseDriftAlarmName("ringmaster", name)).toEqual({ team: "team-a", monitor: "model-b" });
    expect(parseDriftAlarmName("ringmaster", "ringmaster-errors")).toBeUndefined();
    const pattern = patternOf("drift-alarm");
    expect(
      [alarm(name, "ALARM"), alarm(name, "OK"), alarm("x", "ALARM")].map((one) => matchesPattern(pattern, one)),
    ).toEqual([true, false, false]);
  });

  it("is the same in the template as locally", () => {
    triggers.hasResourceProperties("AWS::Events::Rule", {
      Name: "ringmaster-dataset-version-made",
      EventPattern: {
        source: ["aws.s3"],
        "detail-type": ["Object Created"],
        detail: {
          bucket: { name: [Match.anyValue()] },
          object: { key: [{ wildcard: "teams/*/datasets/*/manifest.json" }] },
        },
      },
    });
  });
});

describe("notifications", () => {
  it("are triggered only by this platform's ends of runs, requests for approval and blocked data", () => {
    const pattern = patternOf("notable-event");
    const event = (type: string, of: string, source = "ringmaster") => ({
      source,
      "detail-type": type,
      detail: { platform: of },
    });
    expect(matchesPattern(pattern, event("Training Run Ended", "ringmaster"))).toBe(true);
    expect(matchesPattern(pattern, event("Approval Needed", "ringmaster"))).toBe(true);
    expect(matchesPattern(pattern, event("Data Contract Blocked", "ringmaster"))).toBe(true);
    expect(matchesPattern(pattern, event("Approval Needed", "another"))).toBe(false);
    expect(matchesPattern(pattern, event("Approval Needed", "ringmaster", "another-platform"))).toBe(false);
    expect(matchesPattern(pattern, event("Model Version Changed", "ringmaster"))).toBe(false);
    triggers.hasResourceProperties("AWS::Events::Rule", {
      Name: "ringmaster-notable-event",
      Targets: [Match.objectLike({ DeadLetterConfig: Match.anyValue() })],
    });
    platform.template("workflow").hasResourceProperties("AWS::Lambda::EventInvokeConfig", {
      FunctionName: { Ref: Match.stringLikeRegexp("^notify") },
      MaximumRetryAttempts: 2,
      DestinationConfig: { OnFailure: Match.anyValue() },
    });
  });

  it("have an encrypted topic per team, which accepts only TLS and no other principals", () => {
    const topics = triggers.findResources("AWS::SNS::Topic");
    expect(Object.values(topics).map(({ Properties }) => Properties.TopicName)).toEqual(["ringmaster-team-default"]);
    triggers.hasResourceProperties("AWS::SNS::Topic", { KmsMasterKeyId: Match.anyValue() });
    const policies = Object.values(triggers.findResources("AWS::SNS::TopicPolicy"));
    const statements = policies.flatMap(({ Properties }) => Properties.PolicyDocument.Statement);
    expect(statements.map(({ Effect }) => Effect)).toEqual(["Deny"]);
  });
});

it("one statement lets the platform's rules, and no others, send undelivered events to the queue", () => {
  const sends = Object.values(triggers.findResources("AWS::SQS::QueuePolicy"))
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement as { Effect: string; Condition: object }[])
    .filter(({ Effect }) => Effect === "Allow");
  expect(sends).toEqual([
    expect.objectContaining({
      Action: "sqs:SendMessage",
      Principal: { Service: "events.amazonaws.com" },
      Condition: { ArnLike: { "aws:SourceArn": expect.anything() } },
    }),
  ]);
  expect(textOf(Object.values(Object.values(sends[0]!.Condition)[0]!)[0])).toBe(
    "arn:<AWS::Partition>:events:<AWS::Region>:<AWS::AccountId>:rule/ringmaster-*",
  );
  const names = Object.values(triggers.findResources("AWS::Events::Rule")).map(({ Properties }) => Properties.Name);
  for (const name of names) expect(name).toMatch(/^ringmaster-/);
});

describe("the schedules of rules", () => {
  it("have a group, a queue for undelivered firings, and a role with minimal rights", () => {
    triggers.hasResourceProperties("AWS::Scheduler::ScheduleGroup", { Name: "ringmaster-retraining" });
    triggers.hasResourceProperties("AWS::SQS::Queue", { QueueName: "ringmaster-retraining-undelivered" });
    triggers.hasResourceProperties("AWS::IAM::Role", {
      AssumeRolePolicyDocument: Match.objectLike({
        Statement: [
          Match.objectLike({
            Principal: { Service: "scheduler.amazonaws.com" },
            Condition: { StringEquals: { "aws:SourceAccount": Match.anyValue(), "aws:SourceArn": Match.anyValue() } },
          }),
        ],
      }),
    });
    triggers.hasResourceProperties("AWS::IAM::Policy", {
      PolicyDocument: Match.objectLike({
        Statement: [
          Match.objectLike({ Action: "lambda:InvokeFunction" }),
          Match.objectLike({ Action: "sqs:SendMessage" }),
        ],
      }),
    });
  });

  it("raise an alarm if a firing or an event is given up", () => {
    triggers.resourceCountIs("AWS::CloudWatch::Alarm", 2);
  });
});
