import { Aws, Duration, Fn, Stack, type StackProps, Validations } from "aws-cdk-lib";
import { FairshareSchedulingPolicy } from "aws-cdk-lib/aws-batch";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { trainerEnvironmentOf } from "../../platform/config";
import { jobPermissions } from "../../platform/permissions";
import { shareIdentifierOf, weightFactorOf } from "../../platform/shares";
import { tableNameIn } from "../../platform/tables";
import { jobQueuesOf, resourceNames, trainerJob } from "../../platform/trainer-job";
import type { DeploymentConfig } from "../config";
import { TrainerInstances } from "../constructs/trainer-instances";
import { TrainerJobDefinitions } from "../constructs/trainer-job-definitions";
import { TrainerNetwork } from "../constructs/trainer-network";
import { TrainerQueue } from "../constructs/trainer-queue";
import { grant } from "../grants";
import { bucketNameIn } from "../names";

export interface ComputeStackProps extends StackProps {
  readonly config: DeploymentConfig;
  /** Creates the trainer's image within this stack, because an image asset belongs to one stack. */
  readonly trainerImage: (scope: Construct, executionRole: Role) => string;
}

/**
 * The resources of training: the network, a queue per market, placement and kind of machine, and the trainer's job definitions.
 */
export class ComputeStack extends Stack {
  /** The URI of the trainers' image, which any stack may use. */
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

  /**
   * Returns the configured zones, or else CloudFormation's own list, so that synthesis needs no lookup even if it knows
   * the account.
   */
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
    const spot = { ...common, market: "spot", serves: "arrays" } as const;
    const onDemand = { ...common, market: "on-demand", serves: "arrays" } as const;
    const cluster = { ...common, market: "on-demand", serves: "gangs" } as const;
    new TrainerQueue(this, "SpotCpu", { ...spot, queueName: queues.spot, machines: "cpu" });
    new TrainerQueue(this, "SpotGpu", { ...spot, queueName: queues.spotGpu, machines: "gpu" });
    new TrainerQueue(this, "OnDemandCpu", { ...onDemand, queueName: queues.onDemand, machines: "cpu" });
    new TrainerQueue(this, "OnDemandGpu", { ...onDemand, queueName: queues.onDemandGpu, machines: "gpu" });
    new TrainerQueue(this, "ClusterCpu", { ...cluster, queueName: queues.cluster, machines: "cpu" });
    new TrainerQueue(this, "ClusterGpu", { ...cluster, queueName: queues.clusterGpu, machines: "gpu" });
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
