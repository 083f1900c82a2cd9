import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { Match, type Template } from "aws-cdk-lib/assertions";
import { matchesPattern, parsePattern } from "../../local/events/pattern";
import { localWorld } from "../../local/ringmaster/settings";
import { functions } from "../../platform/functions";
import { parseDriftAlarmName } from "../../platform/retraining";
import { rules } from "../../platform/rules";
import { textOf } from "./policies";
import { repository, resources, type Synthesized, statementsOf, synthesizePlatform } from "./synthesized";

interface Retrier {
  readonly ErrorEquals: readonly string[];
  readonly MaxAttempts: number;
}

let platform: Synthesized;
let workflow: Template;
let api: Template;
let triggers: Template;

beforeAll(() => {
  platform = synthesizePlatform();
  workflow = platform.template("workflow");
  api = platform.template("api");
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

describe("workflow", () => {
  it.each(functions.map((definition) => [definition.name, definition] as const))(
    "holds the function %s",
    (name, definition) => {
      workflow.hasResourceProperties("AWS::Lambda::Function", {
        FunctionName: `ringmaster-${name}`,
        Handler: "handler.handler",
        Runtime: "nodejs22.x",
        Architectures: ["x86_64"],
        Timeout: definition.timeoutSeconds,
        MemorySize: definition.memoryMb,
        TracingConfig: { Mode: "Active" },
        Layers: definition.externals.length === 0 ? Match.absent() : Match.anyValue(),
        Environment: {
          Variables: Match.objectLike({
            RINGMASTER_PREFIX: "ringmaster",
            RINGMASTER_JOB_QUEUE_SPOT: "ringmaster-spot",
            RINGMASTER_BUCKET: Match.anyValue(),
            RINGMASTER_STATE_MACHINE_ARN: Match.anyValue(),
          }),
        },
      });
    },
  );

  it("gives each function separate code", () => {
    const codes = resources(workflow, "AWS::Lambda::Function").map(({ Properties }) =>
      JSON.stringify(Properties["Code"]),
    );
    expect(codes.length).toBeGreaterThanOrEqual(functions.length);
    expect(new Set(codes).size).toBe(codes.length);
  });

  it("contains the state machine with its functions and the right to invoke them", () => {
    const [machine] = resources(workflow, "AWS::StepFunctions::StateMachine");
    expect(machine!.Properties["StateMachineName"]).toBe("ringmaster-training-run");
    expect(machine!.Properties["TracingConfiguration"]).toEqual({ Enabled: true });
    const joined = machine!.Properties["DefinitionString"] as { readonly "Fn::Join": [string, (string | object)[]] };
    const text = joined["Fn::Join"][1]
      .map((piece) => (typeof piece === "string" ? piece : "arn:aws:lambda:us-east-1:000000000000:function:f"))
      .join("");
    const definition = JSON.parse(text) as { readonly QueryLanguage: string; readonly States: object };
    expect(definition.QueryLanguage).toBe("JSONata");
    expect(Object.keys(definition.States)).toEqual(
      expect.arrayContaining(["ValidateDataset", "LaunchTraining", "Promote"]),
    );
    expect(text).not.toContain("${");
    const asl = fs.readFileSync(path.join(repository, "state-machines", "training-run.asl.json"), "utf8");
    // Functions that may work for a quarter of an hour are not invoked for hours.
    const states = (
      JSON.parse(asl) as { readonly States: Readonly<Record<string, { readonly Retry?: readonly Retrier[] }>> }
    ).States;
    for (const name of ["ValidateDataset", "PrepareFeatures", "Evaluate"]) {
      const retriers = states[name]?.Retry?.filter(({ ErrorEquals }) => ErrorEquals.includes("Sandbox.Timedout"));
      expect([name, retriers?.map(({ MaxAttempts }) => MaxAttempts)]).toEqual([name, [1]]);
    }
    const named = new Set([...asl.matchAll(/\$\{([a-z-]+)\}/g)].map((match) => match[1]));
    const invocable = statementsOf(workflow, "TrainingRunRole").filter(
      ({ Action }) => Action === "lambda:InvokeFunction",
    );
    expect(invocable.flatMap(({ Resource }) => Resource)).toHaveLength(named.size);
  });

  it("contains layers from which a bundle's packages load", () => {
    workflow.resourceCountIs("AWS::Lambda::LayerVersion", 3);
    const paths = fs
      .readdirSync(platform.app.outdir)
      .map((asset) => path.join(platform.app.outdir, asset, "nodejs", "node_modules"))
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
      cwd: path.dirname(platform.app.outdir),
      env: { PATH: process.env["PATH"], NODE_PATH: paths.join(path.delimiter) },
      encoding: "utf8",
    });
    expect([status, stderr.includes("Cannot find module")]).toEqual([0, false]);
    expect(paths.some((folder) => stdout.startsWith(folder))).toBe(true);
    expect(stdout).toContain("protobuf parsing failed");
  });
});

describe("api and triggers", () => {
  it("accepts only signed calls", () => {
    // test/infra/api.test.ts tests the rest.
    expect(resources(api, "AWS::ApiGateway::Method")).toEqual([]);
    const body = resources(api, "AWS::ApiGateway::RestApi")[0]!.Properties["Body"] as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly security?: unknown }>>>>;
      readonly components: { readonly securitySchemes: unknown };
    };
    const methods = Object.values(body.paths).flatMap((item) => Object.values(item));
    expect(methods.length).toBeGreaterThan(20);
    for (const { security } of methods) expect(security).toEqual([{ caller: [] }]);
    expect(body.components.securitySchemes).toMatchObject({ caller: { "x-amazon-apigateway-authtype": "awsSigv4" } });
  });

  it.each(rules.map((rule) => [rule.name, rule] as const))(
    "holds the rule %s, with a dead-letter queue",
    (name, rule) => {
      triggers.hasResourceProperties("AWS::Events::Rule", {
        Name: `ringmaster-${name}`,
        State: "ENABLED",
        ScheduleExpression: rule.schedule ?? Match.absent(),
        EventPattern: rule.pattern ? Match.anyValue() : Match.absent(),
        Targets: [Match.objectLike({ DeadLetterConfig: Match.anyValue() })],
      });
    },
  );

  it("receives only events of this platform's queues and state machine", () => {
    const patterns = JSON.stringify(
      resources(triggers, "AWS::Events::Rule").map(({ Properties }) => Properties["EventPattern"]),
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

it("causes no warnings", () => {
  const messages = platform.app.synth().stacks.flatMap((stack) => stack.messages);
  expect(messages.filter(({ level }) => level !== "info")).toEqual([]);
});
