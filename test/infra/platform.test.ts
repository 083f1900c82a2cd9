import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { Match, type Template } from "aws-cdk-lib/assertions";
import { functions } from "../../platform/functions";
import { rules } from "../../platform/rules";
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

it("causes no warnings", () => {
  const messages = platform.app.synth().stacks.flatMap((stack) => stack.messages);
  expect(messages.filter(({ level }) => level !== "info")).toEqual([]);
});
