import { functions } from "../../../platform/functions";
import {
  arnsOf,
  endedRunsPolicy,
  endedRunsPolicyName,
  jobPermissions,
  type Permission,
  runRolePermissions,
  type World,
} from "../../../platform/permissions";
import { stateMachineText } from "../../../state-machines/definition";
import { functionPermissions } from "../../support/permissions";
import { rolesOf, type SynthesizedRole, textOf } from "../policies";
import { defaults, everywhere, stacksOf } from "./platforms";

const prefix = "ringmaster";
const [partition, region, account] = ["<AWS::Partition>", "<AWS::Region>", "<AWS::AccountId>"];
const world: World = { partition, region, account, prefix, bucket: `${prefix}-data-${account}-${region}` };

const rightsOf = (permissions: readonly Permission[]): readonly string[] =>
  permissions
    .flatMap(({ resource, actions }) =>
      actions.flatMap((action) => arnsOf(resource, world).map((arn) => `${action} ${arn}`)),
    )
    .sort();

/** The conditional right in the policy of ended runs. */
const denial = "not * *";
const tracing = ["xray:PutTelemetryRecords *", "xray:PutTraceSegments *"];
const repositoryOfImages = `arn:${partition}:ecr:${region}:${account}:repository/cdk-hnb659fds-container-assets-${account}-${region}`;
const trainerLog = `arn:${partition}:logs:${region}:${account}:log-group:/aws/batch/${prefix}-trainer:*`;

/** The actions without resource-level permissions (service authorization reference), which need "*". */
const withoutResources = new Set([
  "batch:DescribeJobs",
  "batch:DescribeJobDefinitions",
  "batch:ListJobs",
  "ecr:GetAuthorizationToken",
  "logs:CreateLogDelivery",
  "logs:DeleteLogDelivery",
  "logs:DescribeLogGroups",
  "logs:DescribeResourcePolicies",
  "logs:GetLogDelivery",
  "logs:ListLogDeliveries",
  "logs:PutResourcePolicy",
  "logs:UpdateLogDelivery",
  "scheduler:ListSchedules",
  "xray:GetSamplingRules",
  "xray:GetSamplingTargets",
  "xray:PutTelemetryRecords",
  "xray:PutTraceSegments",
]);

/**
 * The rights that Step Functions needs for logs and traces (developer guide, "Logging" and "X-Ray"). They have no
 * resources.
 */
const machineArn = arnsOf("state-machine", world)[0]!;
const childExecutions = `${machineArn.replace(":stateMachine:", ":execution:")}:*`;
const machineTelemetry = [
  "logs:CreateLogDelivery *",
  "logs:DeleteLogDelivery *",
  "logs:DescribeLogGroups *",
  "logs:DescribeResourcePolicies *",
  "logs:GetLogDelivery *",
  "logs:ListLogDeliveries *",
  "logs:PutResourcePolicy *",
  "logs:UpdateLogDelivery *",
  "xray:GetSamplingRules *",
  "xray:GetSamplingTargets *",
  "xray:PutTelemetryRecords *",
  "xray:PutTraceSegments *",
];

const plain = (logicalId: string) => logicalId.replace(/[0-9A-F]{8}$/, "");
const withoutHashes = (right: string) => right.replace(/<([A-Za-z]+?)[0-9A-F]{8}(\.\w+)?>/g, "<$1$2>");
const idOf = (name: string) => name.replaceAll("-", "");

let roles: ReadonlyMap<string, SynthesizedRole>;
beforeAll(() => {
  const all = stacksOf(defaults()).flatMap((stack) => rolesOf(defaults().template(stack)));
  roles = new Map(all.map((role) => [plain(role.logicalId), role]));
});

describe("the deployed roles", () => {
  it("of functions: what the description says, the log and the trace, and the queue of what is given up", () => {
    for (const { name, asynchronous } of functions) {
      const { trust, managed, rights } = roles.get(`${idOf(name)}role`)!;
      const log = `<${idOf(name)}log.Arn>`;
      expect({ name, trust, managed, rights: rights.map(withoutHashes) }).toEqual({
        name,
        trust: ["lambda.amazonaws.com"],
        managed: [],
        rights: [
          ...rightsOf(functionPermissions[name]),
          `logs:CreateLogStream ${log}`,
          `logs:PutLogEvents ${log}`,
          ...(asynchronous?.hasDeadLetterQueue ? ["sqs:SendMessage <DeadLetters.Arn>"] : []),
          ...tracing,
        ].sort(),
      });
    }
  });

  it("a trainer's job may only request its run's credentials and its study's next trial", () => {
    const role = roles.get("TrainerRole")!;
    expect(role.rights).toEqual(rightsOf(jobPermissions));
    expect(role.rights).toHaveLength(2);
    expect(role.trust).toEqual(["ecs-tasks.amazonaws.com"]);
  });

  it("the run role trusts the function that issues sessions, and has a boundary, within which one function may write the policy that ends sessions", () => {
    const role = roles.get("RunRole")!;
    expect(role.trust.map(withoutHashes)).toEqual(["<runcredentialsrole.Arn>"]);
    expect(role.rights.filter((right) => right !== denial)).toEqual(rightsOf(runRolePermissions));
    expect(role.boundary).toEqual(rightsOf(runRolePermissions));
    expect([...roles.values()].filter(({ boundary }) => boundary)).toEqual([role]);
    const changes = [...roles].flatMap(([name, { rights }]) =>
      rights.filter((right) => /^iam:(?!PassRole )/.test(right)).map((right) => [name, right]),
    );
    const [runRole] = arnsOf("run-role", world);
    expect(changes).toEqual([["endsessionsrole", `iam:PutRolePolicy ${runRole}`]]);
    const named = Object.values(defaults().template("workflow").findResources("AWS::IAM::Policy")).filter(
      ({ Properties }) => Properties["PolicyName"] === endedRunsPolicyName,
    );
    expect(named.map(({ Properties }) => Properties["PolicyDocument"])).toEqual([endedRunsPolicy([]).document]);
    // All other rights are in the managed policy, because IAM adds up the inline ones.
    expect([role.managed.length, role.rights.filter((right) => right === denial)]).toEqual([1, [denial]]);
  });

  it("the state machine may invoke the functions that it names", () => {
    const definition = stateMachineText();
    const named = new Set([...definition.matchAll(/\$\{([a-z-]+)\}/g)].map(([, name]) => name!));
    const role = roles.get("TrainingRunRole")!;
    expect(role.rights.map(withoutHashes)).toEqual(
      [
        // Steps of pipelines call three kinds of functions by names in their input.
        ...[...named, "api", "run-module"].map((name) => `lambda:InvokeFunction <${idOf(name)}.Arn>`),
        "lambda:InvokeFunction arn:<AWS::Partition>:lambda:<AWS::Region>:<AWS::AccountId>:function:ringmaster-user-*",
        // Its distributed Maps start child executions of itself.
        ...[`states:DescribeExecution ${childExecutions}`, `states:StopExecution ${childExecutions}`],
        `states:StartExecution ${machineArn}`,
        ...machineTelemetry,
      ].sort(),
    );
  });

  it("a job's start fetches the trainer's image and opens its log", () => {
    expect(roles.get("TrainerExecutionRole")!.rights).toEqual([
      `ecr:BatchCheckLayerAvailability ${repositoryOfImages}`,
      `ecr:BatchGetImage ${repositoryOfImages}`,
      "ecr:GetAuthorizationToken *",
      `ecr:GetDownloadUrlForLayer ${repositoryOfImages}`,
      `logs:CreateLogStream ${trainerLog}`,
      `logs:PutLogEvents ${trainerLog}`,
    ]);
  });

  it("schedules of triggers may call one function, or send to its queue", () => {
    const { rights, trust } = roles.get("TriggersRole")!;
    expect(trust).toEqual(["scheduler.amazonaws.com"]);
    expect(rights.map((right) => right.split(" ")[0])).toEqual(["lambda:InvokeFunction", "sqs:SendMessage"]);
    expect(rights[0]).toContain("firetriggers");
  });

  it("are exactly these", () => {
    const known = [
      ...functions.map(({ name }) => `${idOf(name)}role`),
      ...["TrainerRole", "TrainerExecutionRole", "RunRole", "TrainingRunRole", "TriggersRole"],
      // AWS's own agents: ECS's on the instances, flow logs, API Gateway's log, and CDK's, which empties the default
      // security group.
      ...["InstancesRole", "NetworkVpcFlowIAMRole", "ApiCloudWatchRole"],
      "CustomVpcRestrictDefaultSGCustomResourceProviderRole",
    ];
    expect([...roles.keys()].sort()).toEqual(known.sort());
  });

  it("use no key and open no shell, unless configured (account-rules.ts)", () => {
    const text = stacksOf(defaults())
      .filter((stack) => stack !== "observability") // The alarms' topic has a key of its own.
      .map((stack) => JSON.stringify(defaults().template(stack).toJSON()))
      .join();
    expect(text).not.toMatch(/"kms:|ssmmessages|BUCKET_KEY/);
  });

  it("functions admit API Gateway and EventBridge only, each for a source of this account", () => {
    const admitted = everywhere(defaults(), "AWS::Lambda::Permission");
    expect(admitted.length).toBeGreaterThan(0);
    for (const [, { Properties }] of admitted) {
      expect(Properties["Action"]).toBe("lambda:InvokeFunction");
      expect(["apigateway.amazonaws.com", "events.amazonaws.com"]).toContain(Properties["Principal"]);
      expect(textOf(Properties["SourceArn"])).toMatch(/<AWS::AccountId>|\.Arn>$/);
    }
  });

  it("name their actions, and resources where there are any; none but the run role denies", () => {
    expect([...roles].filter(([, { rights }]) => rights.includes(denial)).map(([name]) => name)).toEqual(["RunRole"]);
    const rights = [...roles.values()].flatMap((role) => role.rights).filter((right) => right !== denial);
    const broad = rights.filter((right) => {
      const [action = "", resource] = right.split(" ");
      return action.includes("*") || action === "not" || (resource === "*" && !withoutResources.has(action));
    });
    expect(broad).toEqual([]);
  });
});
