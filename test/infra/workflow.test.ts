import fs from "node:fs";
import path from "node:path";
import { Match } from "aws-cdk-lib/assertions";
import { WorkflowStack } from "../../infra/stacks/workflow-stack";
import { functions } from "../../platform/functions";
import { functionPermissionsFile } from "../../platform/permissions";
import { rules } from "../../platform/rules";
import { permissionsFile } from "../support/permissions";
import { temporaryFolder } from "../support/temporary-folder";
import { repository, resources, synthesizeStack } from "./synthesized";

const directory = temporaryFolder("workflow");
fs.mkdirSync(path.join(directory, "lambdas"));
for (const { name } of functions) fs.writeFileSync(path.join(directory, "lambdas", `${name}.js`), `// ${name}`);
fs.cpSync(path.join(repository, "state-machines"), path.join(directory, "state-machines"), { recursive: true });
fs.copyFileSync(permissionsFile, path.join(directory, functionPermissionsFile));

const workflowOf = (accountConcurrency: number) =>
  synthesizeStack({ functions: { accountConcurrency }, retention: { logDays: 30 } }, (app, config) => {
    return new WorkflowStack(app, "Workflow", {
      bundles: directory,
      nodeModules: path.join(repository, "node_modules"),
      trainerImage: "registry/trainer:1",
      config,
    });
  }).template;
const template = workflowOf(10);

it("reserves no concurrency in an account without enough of it", () => {
  for (const { Properties } of resources(template, "AWS::Lambda::Function"))
    expect(Properties["ReservedConcurrentExecutions"]).toBeUndefined();
});

it("limits functions that could use up the concurrency of others, if the account allows it", () => {
  const roomy = workflowOf(1_000);
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
  const called = new Set(rules.map(({ target }) => target));
  expect(
    functions
      .filter(({ asynchronous }) => asynchronous)
      .map(({ name }) => name)
      .sort(),
  ).toEqual([...called].sort());
  for (const { asynchronous } of functions) {
    if (!asynchronous) continue;
    template.hasResourceProperties("AWS::Lambda::EventInvokeConfig", {
      MaximumRetryAttempts: asynchronous.retries,
      MaximumEventAgeInSeconds: asynchronous.maxAgeSeconds,
      DestinationConfig: asynchronous.hasDeadLetterQueue
        ? { OnFailure: { Destination: Match.anyValue() } }
        : Match.absent(),
    });
  }
});

it("logs executions without their data, and keeps logs for the configured time", () => {
  template.hasResourceProperties("AWS::StepFunctions::StateMachine", {
    LoggingConfiguration: Match.objectLike({ Level: "ALL", IncludeExecutionData: false }),
    TracingConfiguration: { Enabled: true },
  });
  const groups = resources(template, "AWS::Logs::LogGroup");
  expect(groups).toHaveLength(functions.length + 1);
  for (const { Properties } of groups) expect(Properties["RetentionInDays"]).toBe(30);
});
