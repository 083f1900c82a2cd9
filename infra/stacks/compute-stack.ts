import { Aws, Duration, Fn, Stack, type StackProps, Validations } from "aws-cdk-lib";
import { FairshareSchedulingPolicy } from "aws-cdk-lib/aws-batch";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { gpuClassesIn, gpuClassOf } from "../../core/metering/prices";
import { trainerEnvironmentOf } from "../../platform/config";
import { jobPermissions } from "../../platform/permissions";
import { shareIdentifierOf, weightFactorOf } from "../../platform/shares";
import { tableNameIn } from "../../platform/tables";
import { gpuQueueOf, jobQueuesOf, resourceNames, trainerJob } from "../../platform/trainer-job";
import type { DeploymentConfig } from "../config";
import { TrainerInstances } from "../constructs/trainer-instances";
import { TrainerJobDefinitions } from "../constructs/trainer-job-definitions";
import { TrainerNetwork } from "../constructs/trainer-network";
import { TrainerQueue } from "../constructs/trainer-queue";
import { grant } from "../grants";
import { bucketNameIn } from "../names";

export interface ComputeStackProps extends StackProps {
  readonly config: DeploymentConfig;
  readonly trainerImage: (scope: Construct, executionRole: Role) => string;
}

export class ComputeStack extends Stack {
  readonly trainerImage: string;
  private readonly network: DeploymentConfig["network"];

  constructor(scope: Construct, id: string, props: ComputeStackProps) {
    super(scope, id, props);
    const { config } = props;
    const { prefix } = config;
    this.network = config.network;
    if (config.network.mode !== "existing" && config.network.zoneNames.length > 0) {
      const reason = "The operator names them, for the region that the operator deploys to.";
      Validations.of(this).acknowledge({ id: "CloudFormation-Validate::W3010", reason });
    }
    const network = new TrainerNetwork(this, "Network", config);
    this.queues(network, config);

    const ecsTasks = "ecs-tasks.amazonaws.com";
    const conditions = { StringEquals: { "aws:SourceAccount": Aws.ACCOUNT_ID } };
    const jobRole = new Role(this, "TrainerRole", { assumedBy: new ServicePrincipal(ecsTasks, { conditions }) });
    grant(jobRole, jobPermissions, prefix);
    // ECS documents that condition for the roles of tasks, but not for this role. No other account can pass this role
    // to a task anyway.
    const executionRole = new Role(this, "TrainerExecutionRole", { assumedBy: new ServicePrincipal(ecsTasks) });
    LogGroup.fromLogGroupName(this, "TrainerLog", resourceNames(prefix).jobLogGroup).grantWrite(executionRole);
    this.trainerImage = props.trainerImage(this, executionRole);
    new TrainerJobDefinitions(this, "Trainer", {
      prefix,
      image: this.trainerImage,
      jobRole,
      executionRole,
      environment: {
        ...trainerEnvironmentOf({
          prefix,
          bucket: bucketNameIn(prefix),
          tables: { gangs: tableNameIn(prefix, "Gangs") },
        }),
        ...network.environment,
      },
    });
  }

  /** The configured zones, or CloudFormation's own list: synthesis needs no lookup. */
  override get availabilityZones(): string[] {
    const { zones, zoneNames } = this.network.mode === "existing" ? { zones: 1, zoneNames: [] } : this.network;
    return zoneNames.length > 0
      ? [...zoneNames]
      : Array.from({ length: zones }, (_, zone) => Fn.select(zone, Fn.getAzs()));
  }

  private queues(network: TrainerNetwork, config: DeploymentConfig): void {
    const queues = jobQueuesOf(config.prefix);
    const schedulingPolicy = new FairshareSchedulingPolicy(this, "Teams", {
      shareDecay: Duration.seconds(trainerJob.shareDecaySeconds),
      shares: sharesOf(config),
    });
    const instances = new TrainerInstances(this, "Instances", config);
    const common = { network, instances, schedulingPolicy, config };
    const uses = {
      Spot: { market: "spot", serves: "arrays", cpu: queues.spot, gpu: queues.spotGpu },
      OnDemand: { market: "on-demand", serves: "arrays", cpu: queues.onDemand, gpu: queues.onDemandGpu },
      Cluster: { market: "on-demand", serves: "gangs", cpu: queues.cluster, gpu: queues.clusterGpu },
    } as const;
    const { cpu, gpu } = config.compute;
    const classes = gpuClassesIn(gpu.instanceClasses);
    for (const [id, { cpu: cpuQueue, gpu: gpuQueue, ...use }] of Object.entries(uses)) {
      const machines = {
        ...common,
        ...use,
        queueName: cpuQueue,
        machines: "cpu",
        families: cpu.instanceClasses,
      } as const;
      new TrainerQueue(this, `${id}Cpu`, machines);
      for (const [i, name] of classes.entries()) {
        new TrainerQueue(this, `${id}Gpu${i === 0 ? "" : name.replace("-", "")}`, {
          ...common,
          ...use,
          queueName: gpuQueueOf(gpuQueue, name, classes),
          machines: "gpu",
          families: gpu.instanceClasses.filter((family) => gpuClassOf(family) === name),
        });
      }
    }
  }
}

/**
 * Returns each share once, even if several teams use it. The configuration rules ensure that they agree on its weight.
 */
function sharesOf({ teams }: DeploymentConfig) {
  const weights = new Map(teams.map(({ name, share = name, weight }) => [share, weight]));
  return [...weights].map(([share, weight]) => ({
    shareIdentifier: shareIdentifierOf(share),
    weightFactor: weightFactorOf(weight),
  }));
}
