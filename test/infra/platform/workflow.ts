import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { Match } from "aws-cdk-lib/assertions";
import { WorkflowStack } from "../../../infra/stacks/workflow-stack";
import { matchesPattern, parsePattern } from "../../../local/events/pattern";
import { functions } from "../../../platform/functions";
import { rules } from "../../../platform/rules";
import { parseDriftAlarmName } from "../../../platform/triggers";
import { localWorld } from "../../../stack/settings";
import { stateMachineText } from "../../../state-machines/definition";
import { textOf } from "../policies";
import { repository, resources, synthesizeStack } from "../synthesized";
import { defaults } from "./platforms";

interface Retrier {
  readonly ErrorEquals: readonly string[];
  readonly MaxAttempts: number;
}

const workflow = () => defaults().template("workflow");
const triggers = () => defaults().template("triggers");

const patternOf = (name: string) =>
  parsePattern(JSON.stringify(rules.find((rule) => rule.name === name)!.pattern!(localWorld())));
const object = (key: string, bucket = "ringmaster-data") => ({
  source: "aws.s3",
  "detail-type": "Object Created",
  detail: { bucket: { name: bucket }, object: { key } },
});

describe("the workflow", () => {
  it("holds each function, with code of its own, and reserves no concurrency in an account without enough of it", () => {
    for (const { name, timeoutSeconds, memoryMb, externals } of functions) {
      workflow().hasResourceProperties("AWS::Lambda::Function", {
        FunctionName: `ringmaster-${name}`,
        Handler: "handler.handler",
        Runtime: "nodejs22.x",
        Architectures: ["x86_64"],
        Timeout: timeoutSeconds,
        MemorySize: memoryMb,
        TracingConfig: { Mode: "Active" },
        ReservedConcurrentExecutions: Match.absent(),
        Layers: externals.length === 0 ? Match.absent() : Match.anyValue(),
        Environment: {
          Variables: Match.objectLike({
            RINGMASTER_PREFIX: "ringmaster",
            RINGMASTER_JOB_QUEUE_SPOT: "ringmaster-spot",
            RINGMASTER_BUCKET: Match.anyValue(),
            RINGMASTER_STATE_MACHINE_ARN: Match.anyValue(),
          }),
        },
      });
    }
    const codes = resources(workflow(), "AWS::Lambda::Function").map(({ Properties }) =>
      JSON.stringify(Properties["Code"]),
    );
    expect(codes.length).toBeGreaterThanOrEqual(functions.length);
    expect(new Set(codes).size).toBe(codes.length);
  });

  it("limits functions that could use up the concurrency of others, if the account allows it", () => {
    const settings = { functions: { accountConcurrency: 1_000 } };
    const roomy = synthesizeStack(settings, (app, config) => {
      const nodeModules = path.join(repository, "node_modules");
      return new WorkflowStack(app, "Workflow", {
        bundles: defaults().bundles,
        nodeModules,
        trainerImage: "t",
        config,
      });
    }).template;
    for (const { name, concurrency } of functions) {
      roomy.hasResourceProperties("AWS::Lambda::Function", {
        FunctionName: `ringmaster-${name}`,
        ReservedConcurrentExecutions: concurrency ?? Match.absent(),
      });
    }
    const set = functions.reduce((sum, { concurrency = 0 }) => sum + concurrency, 0);
    expect(set + 100).toBeLessThanOrEqual(300); // Lambda keeps a hundred for all others.
  });

  it("sets the retries of each function that events call, and keeps the events that it gives up", () => {
    const asynchronous = functions.flatMap((one) => (one.asynchronous ? [{ ...one, ...one.asynchronous }] : []));
    const called = new Set(rules.map(({ target }) => target));
    expect(asynchronous.map(({ name }) => name).sort()).toEqual([...called].sort());
    for (const { retries, maxAgeSeconds, hasDeadLetterQueue } of asynchronous) {
      workflow().hasResourceProperties("AWS::Lambda::EventInvokeConfig", {
        MaximumRetryAttempts: retries,
        MaximumEventAgeInSeconds: maxAgeSeconds,
        DestinationConfig: hasDeadLetterQueue ? { OnFailure: { Destination: Match.anyValue() } } : Match.absent(),
      });
    }
  });

  it("contains the state machine, which logs executions without their data", () => {
    workflow().hasResourceProperties("AWS::StepFunctions::StateMachine", {
      StateMachineName: "ringmaster-training-run",
      LoggingConfiguration: Match.objectLike({ Level: "ALL", IncludeExecutionData: false }),
      TracingConfiguration: { Enabled: true },
    });
    for (const { Properties } of resources(workflow(), "AWS::Logs::LogGroup"))
      expect(Properties["RetentionInDays"]).toBe(90);
    const asl = stateMachineText();
    // Functions that may work for a quarter of an hour are not invoked for hours.
    const states = (
      JSON.parse(asl) as { readonly States: Readonly<Record<string, { readonly Retry?: readonly Retrier[] }>> }
    ).States;
    for (const name of ["ValidateDataset", "PrepareFeatures", "Evaluate"]) {
      const retriers = states[name]?.Retry?.filter(({ ErrorEquals }) => ErrorEquals.includes("Sandbox.Timedout"));
      expect([name, retriers?.map(({ MaxAttempts }) => MaxAttempts)]).toEqual([name, [1]]);
    }
  });

  it("contains layers from which a bundle's packages load", () => {
    workflow().resourceCountIs("AWS::Lambda::LayerVersion", 3);
    const paths = fs
      .readdirSync(defaults().app.outdir)
      .map((asset) => path.join(defaults().app.outdir, asset, "nodejs", "node_modules"))
      .filter((folder) => fs.existsSync(folder));
    expect(paths).toHaveLength(3);
    // The runtime's own build of WebAssembly refuses data that are not a model.
    const program = `
      const { env, InferenceSession } = require("onnxruntime-web");
      env.wasm.numThreads = 1;
      InferenceSession.create(Uint8Array.of(1)).catch(({ message }) => console.log(message));
      require("@duckdb/node-api");
      require("@tensorflow/tfjs-layers");
      require("@tensorflow/tfjs-backend-wasm");
      console.log(require.resolve("@tensorflow/tfjs-core"));
    `;
    const { stdout, stderr, status } = spawnSync(process.execPath, ["-e", program], {
      cwd: path.dirname(defaults().app.outdir),
      env: { PATH: process.env["PATH"], NODE_PATH: paths.join(path.delimiter) },
      encoding: "utf8",
    });
    expect([status, stderr.includes("Cannot find module")]).toEqual([0, false]);
    expect(paths.some((folder) => stdout.startsWith(folder))).toBe(true);
    expect(stdout).toContain("protobuf parsing failed");
  });
});

describe("the triggers", () => {
  it("hold each rule, with a dead-letter queue", () => {
    for (const { name, schedule, pattern } of rules) {
      triggers().hasResourceProperties("AWS::Events::Rule", {
        Name: `ringmaster-${name}`,
        State: "ENABLED",
        ScheduleExpression: schedule ?? Match.absent(),
        EventPattern: pattern ? Match.anyValue() : Match.absent(),
        Targets: [Match.objectLike({ DeadLetterConfig: Match.anyValue() })],
      });
    }
    triggers().resourceCountIs("AWS::CloudWatch::Alarm", 2);
  });

  it("receive only events of this platform's queues and state machine", () => {
    const patterns = JSON.stringify(
      resources(triggers(), "AWS::Events::Rule").map(({ Properties }) => Properties["EventPattern"]),
    );
    expect(patterns).toContain(":job-queue/ringmaster-spot");
    expect(patterns).toContain(":stateMachine:ringmaster-training-run");
  });
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
    triggers().hasResourceProperties("AWS::Events::Rule", {
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
  });

  it("have an encrypted topic per team, which accepts only TLS and no other principals", () => {
    const topics = triggers().findResources("AWS::SNS::Topic");
    expect(Object.values(topics).map(({ Properties }) => Properties.TopicName)).toEqual(["ringmaster-team-default"]);
    triggers().hasResourceProperties("AWS::SNS::Topic", { KmsMasterKeyId: Match.anyValue() });
    const policies = Object.values(triggers().findResources("AWS::SNS::TopicPolicy"));
    const statements = policies.flatMap(({ Properties }) => Properties.PolicyDocument.Statement);
    expect(statements.map(({ Effect }) => Effect)).toEqual(["Deny"]);
  });
});

it("one statement lets the platform's rules, and no others, send undelivered events to the queue", () => {
  const sends = Object.values(triggers().findResources("AWS::SQS::QueuePolicy"))
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
  const names = Object.values(triggers().findResources("AWS::Events::Rule")).map(({ Properties }) => Properties.Name);
  for (const name of names) expect(name).toMatch(/^ringmaster-/);
});

describe("the schedules of rules", () => {
  it("have a group, a queue for undelivered firings, and a role that only the group may use", () => {
    triggers().hasResourceProperties("AWS::Scheduler::ScheduleGroup", { Name: "ringmaster-triggers" });
    triggers().hasResourceProperties("AWS::SQS::Queue", { QueueName: "ringmaster-triggers-undelivered" });
    triggers().hasResourceProperties("AWS::IAM::Role", {
      AssumeRolePolicyDocument: Match.objectLike({
        Statement: [
          Match.objectLike({
            Principal: { Service: "scheduler.amazonaws.com" },
            Condition: { StringEquals: { "aws:SourceAccount": Match.anyValue(), "aws:SourceArn": Match.anyValue() } },
          }),
        ],
      }),
    });
  });
});

it("causes no warnings", () => {
  const messages = defaults()
    .app.synth()
    .stacks.flatMap((stack) => stack.messages);
  expect(messages.filter(({ level }) => level !== "info")).toEqual([]);
});
