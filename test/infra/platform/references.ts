import fs from "node:fs";
import path from "node:path";
import { ComputeStack } from "../../../infra/stacks/compute-stack";
import { functions } from "../../../platform/functions";
import { arnsOf, jobPermissions, type Resource, runRolePermissions, type World } from "../../../platform/permissions";
import { rules } from "../../../platform/rules";
import { functionPermissions } from "../../support/permissions";
import { resourcesOf } from "../evaluated";
import { textOf } from "../policies";
import { repository, synthesizeStack } from "../synthesized";
import { defaults, everywhere, stacksOf } from "./platforms";

const naming = [
  "TableName",
  "BucketName",
  "FunctionName",
  "StateMachineName",
  "JobQueueName",
  "JobDefinitionName",
  "LogGroupName",
  "RoleName",
  "QueueName",
  "Name",
  "TopicName",
];

/** Returns a name as text, with account and region in a form without colons. */
const nameOf = (value: unknown) => textOf(value).replace(/<AWS::(\w+)>/g, "$1");

/** The variables that do not contain the name of a resource. */
const nameless = new Set([
  "RINGMASTER_PREFIX",
  "RINGMASTER_TRAINER_IMAGE",
  "RINGMASTER_GPU_CLASSES",
  "RINGMASTER_EVALUATION_OPERATIONS",
  "RINGMASTER_TEAM_SHARES",
  "RINGMASTER_TEAMS",
  "RINGMASTER_CACHE_DIR",
  "RINGMASTER_HOST_DIRECTORY",
  "RINGMASTER_SUBNET_ZONES",
]);

/** The variables that code reads and a deployment does not set, each with its reason. */
const unset: Readonly<Record<string, string>> = {
  RINGMASTER_ADVERTISE_HOST: "found out from the network interfaces",
  RINGMASTER_CACHE_GIB: "has a default",
  RINGMASTER_SPOT_POLL_MS: "has a default",
  RINGMASTER_HOST_WORKER: "set by a container with several workers, for each of its processes",
  RINGMASTER_HOST_START: "the same",
  RINGMASTER_TRACE_STEPS: "for tests of the gang",
  RINGMASTER_CONTAINER_ROOT: "for images of users",
  RINGMASTER_NOTICE: "of a container's command",
  RINGMASTER_SEED: "of a container's command",
  RINGMASTER_NATIVE_DIR: "the image's own, by its Dockerfile",
  RINGMASTER_BUCKET_KEY_ARN: "only with encryption.bucketKeyArn",
  RINGMASTER_PERSONAL_ROLES: "only where personal roles are configured",
  RINGMASTER_HOOKS_ALLOW_LOOPBACK: "one machine's: on AWS hooks go to public addresses only",
  RINGMASTER_STACK_PORTS: "one machine's",
  RINGMASTER_CHECK_RESPONSES: "for tests of the API",
  RINGMASTER_MAX_EXPANSION: "has a default",
  RINGMASTER_WORKING_DIRECTORY: "one machine's: where its server was started",
  RINGMASTER_GRAPH_OPTIMIZER: "the trainer sets it by the device, before TensorFlow loads",
};

let names: ReadonlySet<string>;
beforeAll(() => {
  const classes = { compute: { gpu: { instanceClasses: ["g5", "g6"] } } };
  const { template } = synthesizeStack(
    classes,
    (app, config) => new ComputeStack(app, "Compute", { config, trainerImage: () => "registry.example.com/trainer:1" }),
  );
  const templates = [...stacksOf(defaults()).map((stack) => defaults().template(stack)), template];
  const resources = templates.flatMap((one) => Object.values(resourcesOf(one)));
  names = new Set(
    resources.flatMap(({ Properties = {} }) => naming.flatMap((name) => Properties[name] ?? [])).map(nameOf),
  );
});

interface Named {
  readonly id: string;
  readonly Properties: Readonly<Record<string, unknown>>;
}
const ofType = (type: string): readonly Named[] =>
  everywhere(defaults(), type).map(([id, { Properties }]) => ({ id, Properties }));

function environments() {
  const ours = new Set(functions.map(({ name }) => `ringmaster-${name}`));
  const ofFunctions = ofType("AWS::Lambda::Function")
    .filter(({ Properties }) => ours.has(textOf(Properties["FunctionName"] ?? "")))
    .map(({ Properties }) => (Properties["Environment"] as { readonly Variables: Record<string, unknown> }).Variables);
  const containers = ofType("AWS::Batch::JobDefinition").map(({ Properties }) => {
    const nodes = Properties["NodeProperties"] as { NodeRangeProperties: { Container: unknown }[] } | undefined;
    return (nodes?.NodeRangeProperties[0]?.Container ?? Properties["ContainerProperties"]) as {
      readonly Environment: readonly { readonly Name: string; readonly Value: unknown }[];
    };
  });
  return {
    ofFunctions,
    ofJobs: containers.map(({ Environment }) =>
      Object.fromEntries(Environment.map(({ Name, Value }) => [Name, Value])),
    ),
  };
}

function* sourceFiles(...places: readonly string[]): Generator<string> {
  for (const place of places) {
    const full = path.join(repository, place);
    if (full.endsWith(".ts")) yield full;
    else
      for (const entry of fs.readdirSync(full, { withFileTypes: true })) {
        if (entry.name === "node_modules") continue;
        if (entry.isDirectory() || entry.name.endsWith(".ts")) yield* sourceFiles(path.join(place, entry.name));
      }
  }
}

function variablesIn(...places: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const file of sourceFiles(...places)) {
    const code = fs.readFileSync(file, "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
    for (const [variable] of code.matchAll(/\bRINGMASTER_[A-Z_]+\b/g)) found.add(variable);
  }
  return found;
}

const configOf = (...files: readonly string[]) => files.map((file) => `platform/config/${file}.ts`);
const trainerConfig = configOf("trainer", "run-session");

describe("what code refers to is deployed", () => {
  it("state machines: every function that they name, and no other resource", () => {
    const folder = path.join(repository, "state-machines");
    for (const file of fs.readdirSync(folder).filter((name) => name.endsWith(".asl.json"))) {
      const text = fs.readFileSync(path.join(folder, file), "utf8");
      const named = [...text.matchAll(/\$\{([^}]*)\}/g)].map(([, name]) => name);
      expect(functions.map(({ name }) => name as string)).toEqual(expect.arrayContaining(named));
      const arns = [...text.matchAll(/arn:[^"\s]+/g)].map(([arn]) => arn);
      expect(new Set(arns)).toEqual(
        new Set(["arn:aws:states:::lambda:invoke", "arn:aws:states:::lambda:invoke.waitForTaskToken"]),
      );
    }
    const ids = new Set(ofType("AWS::Lambda::Function").map(({ id }) => id));
    for (const { Properties } of ofType("AWS::StepFunctions::StateMachine")) {
      const definition = textOf(Properties["DefinitionString"]);
      const referred = [...definition.matchAll(/<(\w+)\.Arn>/g)].map(([, id]) => id!);
      expect(referred.length).toBeGreaterThan(0);
      for (const id of referred) expect([...ids]).toContain(id);
      expect(definition).not.toContain("${");
    }
  });

  it("rules: every target", () => {
    const known = functions.map(({ name }) => name);
    for (const { target } of rules) expect(known).toContain(target);
  });

  it("variables: those that functions read are set for each of them, and those that are set are read", () => {
    const read = variablesIn(...configOf("platform", "teams"), "adapters", "api", "lambdas", "platform/permissions");
    const own = [...variablesIn("adapters/batch")];
    const { ofFunctions } = environments();
    expect(ofFunctions).toHaveLength(functions.length);
    const set = new Set(
      ofFunctions.flatMap((variables) => Object.keys(variables)).filter((name) => name.startsWith("RINGMASTER_")),
    );
    // Trainers read the variables that the launch sets.
    expect([...read].filter((name) => !set.has(name) && !own.includes(name) && !(name in unset)).sort()).toEqual([]);
    const readAnywhere = new Set([...read, ...variablesIn("platform/config", "api", "lambdas")]);
    expect([...set].filter((name) => !readAnywhere.has(name))).toEqual([]);
    // The required variables. The image is set for functions that create runs.
    const optional = ["RINGMASTER_TRAINER_IMAGE", "RINGMASTER_BUCKET_KEY_ARN"];
    const required = [...variablesIn(...configOf("platform"))].filter((name) => !optional.includes(name));
    for (const variables of ofFunctions) expect(Object.keys(variables)).toEqual(expect.arrayContaining(required));
  });

  it("variables: those that trainers read are set in the job definitions or at submission, and those that are set are read", () => {
    const read = variablesIn(...trainerConfig, "trainer-container");
    const submitted = variablesIn("adapters/batch");
    const { ofJobs } = environments();
    expect(ofJobs).toHaveLength(2);
    for (const variables of ofJobs) {
      const set = new Set([...Object.keys(variables).filter((name) => name.startsWith("RINGMASTER_")), ...submitted]);
      expect([...read].filter((name) => !set.has(name) && !(name in unset)).sort()).toEqual([]);
      expect([...set].filter((name) => !read.has(name)).sort()).toEqual([]);
    }
    const readSomewhere = variablesIn("adapters", "core", "platform", "api", "lambdas", "trainer-container");
    expect(Object.keys(unset).filter((name) => !readSomewhere.has(name))).toEqual([]);
  });

  it("names: every resource that a variable names", () => {
    const { ofFunctions, ofJobs } = environments();
    for (const variables of [...ofFunctions, ...ofJobs]) {
      for (const [name, value] of Object.entries(variables)) {
        if (!name.startsWith("RINGMASTER_") || nameless.has(name)) continue;
        const text = nameOf(value);
        const resource = text.startsWith("arn:") ? text.split(/[:/]/).at(-1) : text;
        expect({ [name]: names.has(resource ?? "") }).toEqual({ [name]: true });
      }
    }
  });

  it("permissions: every table, index, function, queue, role and group that they name", () => {
    const [partition, region, account] = ["Partition", "Region", "AccountId"];
    const world: World = {
      partition,
      region,
      account,
      prefix: "ringmaster",
      bucket: `ringmaster-data-${account}-${region}`,
    };
    const indexes = new Set(
      ofType("AWS::DynamoDB::Table").flatMap(({ Properties }) =>
        ((Properties["GlobalSecondaryIndexes"] ?? []) as readonly { readonly IndexName: string }[]).map(
          ({ IndexName }) => `${nameOf(Properties["TableName"])}/${IndexName}`,
        ),
      ),
    );
    const permissions = [...Object.values(functionPermissions).flat(), ...jobPermissions, ...runRolePermissions];
    const resources = new Set(permissions.map(({ resource }) => resource));
    for (const resource of resources as ReadonlySet<Resource>) {
      for (const arn of arnsOf(resource, world)) {
        const [, table, index] = /:table\/([^/]+)\/index\/(.+)$/.exec(arn) ?? [];
        if (index !== undefined) expect([...indexes]).toContain(`${table}/${index}`);
        else if (arn !== "*" && !arn.endsWith(":job/*") && !arn.endsWith(":event-bus/default")) {
          const part = arn
            .replace(/\/teams\/.*$|[/:]\*$/, "")
            .split(":")
            .slice(5)
            .join(":");
          const name = part.replace(
            /^(table|stateMachine|execution|job-queue|job-definition|log-group|function|role|schedule)[/:]/,
            "",
          );
          // A family of names, such as the teams' topics.
          const deployed = name.endsWith("-*")
            ? [...names].some((one) => one.startsWith(name.slice(0, -1)))
            : names.has(name);
          expect({ [arn]: deployed }).toEqual({ [arn]: true });
        }
      }
    }
  });
});
