import { spawnSync } from "node:child_process";
import { App, Stack } from "aws-cdk-lib";
import { Match } from "aws-cdk-lib/assertions";
import { FairshareSchedulingPolicy } from "aws-cdk-lib/aws-batch";
import type { Role } from "aws-cdk-lib/aws-iam";
import type { Construct } from "constructs";
import { type DeploymentConfig, type RingmasterConfig, readConfig } from "../../infra/config";
import { hostLogCommands } from "../../infra/constructs/host-logs";
import { TrainerInstances } from "../../infra/constructs/trainer-instances";
import { TrainerNetwork } from "../../infra/constructs/trainer-network";
import { TrainerQueue } from "../../infra/constructs/trainer-queue";
import { callersEnvironment, platformEnvironment } from "../../infra/names";
import { ComputeStack } from "../../infra/stacks/compute-stack";
import { trainerImage } from "../../infra/trainer-image";
import { trainerJob } from "../../platform/trainer-job";
import { repository, resources, statementsOf, synthesizeStack } from "./synthesized";

const settings: RingmasterConfig = {
  teams: [
    { name: "vision", weight: 4 },
    { name: "nlp-2", share: "text", weight: 0.5 },
    { name: "speech", share: "text", weight: 0.5, priority: 3 },
  ],
  compute: { cpu: { maxVcpus: 64 }, gpu: { instanceClasses: ["g6", "p5", "gr6"], maxVcpus: 96 }, spotPricePercent: 60 },
};
const computeStack = (more: RingmasterConfig = {}) =>
  synthesizeStack({ ...settings, ...more }, (app, config) => {
    const image = (scope: Construct, puller: Role) => trainerImage(scope, puller, config, repository);
    return new ComputeStack(app, "Compute", { config, trainerImage: image });
  });
const { template: compute, stack } = computeStack();

type Properties = Readonly<Record<string, unknown>>;
const computeResources = () =>
  resources(compute, "AWS::Batch::ComputeEnvironment").map(
    ({ Properties }) => Properties["ComputeResources"] as Properties,
  );

describe("queues", () => {
  it("are one per market, placement, kind of machine and GPU class, with one compute environment each", () => {
    const queues = resources(compute, "AWS::Batch::JobQueue").map(({ Properties }) => [
      Properties["JobQueueName"],
      (Properties["ComputeEnvironmentOrder"] as object[]).length,
    ]);
    expect(queues).toEqual([
      ["ringmaster-spot", 1],
      ["ringmaster-spot-gpu", 1],
      ["ringmaster-spot-gpu-h100", 1],
      ["ringmaster-on-demand", 1],
      ["ringmaster-on-demand-gpu", 1],
      ["ringmaster-on-demand-gpu-h100", 1],
      ["ringmaster-cluster", 1],
      ["ringmaster-cluster-gpu", 1],
      ["ringmaster-cluster-gpu-h100", 1],
    ]);
  });

  it("offer every zone to arrays in both markets, and one zone and a placement group to gangs", () => {
    const brief = computeResources().map((each) => ({
      type: each["Type"],
      strategy: each["AllocationStrategy"],
      machines: each["InstanceTypes"],
      image: each["Ec2Configuration"],
      zones: (each["Subnets"] as object[]).length,
      together: each["PlacementGroup"] !== undefined,
      most: each["MaxvCpus"],
      percent: each["BidPercentage"],
    }));
    const cpu = { machines: ["c6i", "m6i", "r6i"], image: [{ ImageType: "ECS_AL2023" }], most: 64 };
    const gpu = { machines: ["g6", "gr6"], image: [{ ImageType: "ECS_AL2023_NVIDIA" }], most: 96 };
    const h100 = { ...gpu, machines: ["p5"] };
    const spot = { type: "SPOT", strategy: "SPOT_PRICE_CAPACITY_OPTIMIZED", zones: 3, together: false, percent: 60 };
    const onDemand = { type: "EC2", strategy: "BEST_FIT_PROGRESSIVE", zones: 3, together: false, percent: undefined };
    const cluster = { ...onDemand, zones: 1, together: true };
    expect(brief).toEqual([
      { ...spot, ...cpu },
      { ...spot, ...gpu },
      { ...spot, ...h100 },
      { ...onDemand, ...cpu },
      { ...onDemand, ...gpu },
      { ...onDemand, ...h100 },
      { ...cluster, ...cpu },
      { ...cluster, ...gpu },
      { ...cluster, ...h100 },
    ]);
    for (const each of computeResources()) expect(each["MinvCpus"]).toBe(0);
  });

  it("share by weight: a larger weight is a smaller factor in Batch; a common share of teams exists once", () => {
    compute.hasResourceProperties("AWS::Batch::SchedulingPolicy", {
      FairsharePolicy: {
        ShareDecaySeconds: 86_400,
        ShareDistribution: [
          { ShareIdentifier: "vision", WeightFactor: 0.25 },
          { ShareIdentifier: "text", WeightFactor: 2 },
          { ShareIdentifier: "default", WeightFactor: 1 },
        ],
      },
    });
    for (const { Properties } of resources(compute, "AWS::Batch::JobQueue")) {
      expect(Properties["SchedulingPolicyArn"]).toBeDefined();
    }
  });

  it("set shares and priorities other than the default for the functions that submit", () => {
    const config = readConfig(settings, stack.node);
    const variables: Readonly<Record<string, string>> = {
      ...platformEnvironment(stack, config),
      ...callersEnvironment(config),
    };
    expect(JSON.parse(variables["RINGMASTER_TEAM_SHARES"]!)).toEqual({
      "nlp-2": { share: "text", priority: 0 },
      speech: { share: "text", priority: 3 },
    });
    expect(JSON.parse(variables["RINGMASTER_TEAMS"]!)).toEqual(
      ["vision", "nlp-2", "speech", "default"].map((name) => ({ name, principals: [], groups: [] })),
    );
  });

  it("cancel jobs that no machine could run, and let jobs wait for capacity", () => {
    compute.allResourcesProperties("AWS::Batch::JobQueue", {
      JobStateTimeLimitActions: ["COMPUTE_ENVIRONMENT_MAX_RESOURCE", "JOB_RESOURCE_REQUIREMENT"].map((reason) => ({
        Action: "CANCEL",
        MaxTimeSeconds: 600,
        Reason: `MISCONFIGURATION:${reason}`,
        State: "RUNNABLE",
      })),
    });
  });

  it("are updated in place, jobs given six hours, with the launch template's newest version; no name stands against a replacement", () => {
    compute.allResourcesProperties("AWS::Batch::ComputeEnvironment", {
      ComputeEnvironmentName: Match.absent(),
      ServiceRole: Match.absent(), // Updates in place need Batch's service-linked role.
      ReplaceComputeEnvironment: false,
      UpdatePolicy: { TerminateJobsOnUpdate: false, JobExecutionTimeoutMinutes: 360 },
      ComputeResources: { LaunchTemplate: { Version: { "Fn::GetAtt": [Match.anyValue(), "LatestVersionNumber"] } } },
    });
  });

  it("refuse gangs on spot, because Batch would let them wait forever", () => {
    const stack = new Stack(new App(), "Stack");
    const config: DeploymentConfig = readConfig({}, stack.node);
    const props = {
      queueName: "gangs",
      market: "spot",
      serves: "gangs",
      machines: "gpu",
      families: ["g5"],
      network: new TrainerNetwork(stack, "Network", config),
      instances: new TrainerInstances(stack, "Instances", config),
      schedulingPolicy: new FairshareSchedulingPolicy(stack, "Teams"),
      config,
    } as const;
    expect(() => new TrainerQueue(stack, "Queue", props)).toThrow(
      /"gangs" is to serve gangs \(multi-node-parallel jobs\) on spot/,
    );
  });
});

describe("job definitions", () => {
  const container = {
    User: "10001",
    Privileged: false,
    ReadonlyRootFilesystem: true,
    Volumes: [{ Name: "scratch" }, { Name: "host", Host: { SourcePath: "/run/ringmaster" } }],
    MountPoints: [
      { ContainerPath: "/scratch", ReadOnly: false, SourceVolume: "scratch" },
      { ContainerPath: "/run/ringmaster", ReadOnly: true, SourceVolume: "host" },
    ],
    LinuxParameters: {
      InitProcessEnabled: true,
      SharedMemorySize: 1024,
      Tmpfs: [{ ContainerPath: "/tmp", Size: 64 }],
    },
    Ulimits: [
      { Name: "nofile", SoftLimit: 65_536, HardLimit: 65_536 },
      { Name: "memlock", SoftLimit: -1, HardLimit: -1 },
    ],
    LogConfiguration: {
      LogDriver: "awslogs",
      Options: { "awslogs-group": "/aws/batch/ringmaster-trainer", "awslogs-region": Match.anyValue() },
    },
    Environment: Match.arrayWith([
      { Name: "AWS_REGION", Value: { Ref: "AWS::Region" } },
      { Name: "TMPDIR", Value: "/scratch" },
      { Name: "RINGMASTER_HOST_DIRECTORY", Value: "/run/ringmaster" },
      { Name: "RINGMASTER_CACHE_DIR", Value: "/scratch/shards" },
    ]),
  };
  const capital = (rule: object) =>
    Object.fromEntries(Object.entries(rule).map(([key, value]) => [key[0]!.toUpperCase() + key.slice(1), value]));
  const RetryStrategy = { Attempts: trainerJob.attempts, EvaluateOnExit: trainerJob.evaluateOnExit.map(capital) };

  it("allow user code only a scratch disk, and retry by the platform's rules", () => {
    compute.hasResourceProperties("AWS::Batch::JobDefinition", {
      JobDefinitionName: "ringmaster-trainer",
      Type: "container",
      RetryStrategy,
      ContainerProperties: container,
      ResourceRetentionPolicy: { SkipDeregisterOnUpdate: true },
    });
    expect(trainerJob.evaluateOnExit.length).toBeLessThanOrEqual(5); // Batch's limit.
  });

  it("leave a gang's node range open", () => {
    compute.hasResourceProperties("AWS::Batch::JobDefinition", {
      JobDefinitionName: "ringmaster-trainer-gang",
      Type: "multinode",
      RetryStrategy,
      NodeProperties: { MainNode: 0, NodeRangeProperties: [{ TargetNodes: "0:", Container: container }] },
    });
  });
});

it("allows the agent to fetch the configured image from the account's own repository", () => {
  const { template } = computeStack({ trainerImage: "111122223333.dkr.ecr.eu-central-1.amazonaws.com/team/trainer:1" });
  const pull = statementsOf(template, "TrainerExecutionRole").find(({ Action }) =>
    Action.includes("ecr:BatchGetImage"),
  );
  expect(JSON.stringify(pull?.Resource)).toContain(":ecr:eu-central-1:111122223333:repository/team/trainer");
});

it("lets the agent drain an instance after a spot notice, by user data in the format that Batch accepts", () => {
  const [template] = Object.values(compute.findResources("AWS::EC2::LaunchTemplate"));
  const text = JSON.stringify(template!["Properties"].LaunchTemplateData.UserData);
  expect(text).toContain("Content-Type: multipart/mixed;");
  expect(text).toContain("ECS_ENABLE_SPOT_INSTANCE_DRAINING=true >> /etc/ecs/ecs.config");
  expect(text).toContain("ECS_AWSVPC_BLOCK_IMDS=true >> /etc/ecs/ecs.config");
  expect(text.length).toBeLessThan(16_384); // EC2's limit.
});

it("sends the ECS agent's log and the GPU driver's messages of each instance to a group of its own", () => {
  const commands = hostLogCommands("ringmaster").join("\n");
  const [, config = ""] = /logs\.json <<'END'\n(.*)\nEND/.exec(commands) ?? [];
  expect(JSON.parse(config)).toMatchObject({
    logs: {
      logs_collected: {
        files: {
          collect_list: [
            { file_path: "/var/log/ecs/ecs-agent.log", log_group_name: "/aws/batch/ringmaster-hosts" },
            { file_path: "/var/log/ringmaster-kernel.log", log_stream_name: "{instance_id}/kernel" },
          ],
        },
      },
    },
  });
  expect(spawnSync("bash", ["-n"], { input: commands }).status).toBe(0);
  const write = statementsOf(compute, "InstancesRole").find(({ Action }) =>
    [Action].flat().includes("logs:PutLogEvents"),
  );
  expect(JSON.stringify(write?.Resource)).toContain(":log-group:/aws/batch/ringmaster-hosts:*");
});

it("demands IMDSv2, by its IPv4 address and without a further hop, and encrypted disks", () => {
  compute.allResourcesProperties("AWS::EC2::LaunchTemplate", {
    LaunchTemplateData: {
      MetadataOptions: { HttpTokens: "required", HttpPutResponseHopLimit: 1, HttpProtocolIpv6: "disabled" },
      BlockDeviceMappings: [{ DeviceName: "/dev/xvda", Ebs: { Encrypted: true, VolumeType: "gp3", VolumeSize: 200 } }],
    },
  });
});
