import { Duration } from "aws-cdk-lib";
import {
  AllocationStrategy,
  type CfnComputeEnvironment,
  EcsMachineImageType,
  type ISchedulingPolicy,
  JobQueue,
  JobStateTimeLimitActionsReason,
  ManagedEc2EcsComputeEnvironment,
} from "aws-cdk-lib/aws-batch";
import { type InstanceClass, PlacementGroup, PlacementGroupStrategy } from "aws-cdk-lib/aws-ec2";
import { Construct } from "constructs";
import type { DeploymentConfig } from "../config";
import type { TrainerInstances } from "./trainer-instances";
import type { TrainerNetwork } from "./trainer-network";

export interface TrainerQueueProps {
  readonly queueName: string;
  readonly market: "spot" | "on-demand";
  /** `arrays`: single-node jobs. `gangs`: also multi-node parallel jobs in a cluster placement group. */
  readonly serves: "arrays" | "gangs";
  readonly machines: "cpu" | "gpu";
  readonly families: readonly string[];
  readonly network: TrainerNetwork;
  readonly instances: TrainerInstances;
  readonly schedulingPolicy: ISchedulingPolicy;
  readonly config: DeploymentConfig;
}

/** The time for which a job without any suitable machine may block its queue; ten minutes is Batch's minimum. */
const misconfiguredPatience = Duration.minutes(10);

/**
 * A queue with one compute environment: Batch moves jobs to a second one, where they would cost and compute
 * differently. @throws Error for gangs on spot, which Batch leaves RUNNABLE forever
 */
export class TrainerQueue extends Construct {
  readonly queue: JobQueue;

  constructor(scope: Construct, id: string, props: TrainerQueueProps) {
    super(scope, id);
    const { queueName, market, serves, schedulingPolicy } = props;
    if (serves === "gangs" && market === "spot") {
      throw new Error(
        `The queue "${queueName}" is to serve gangs (multi-node-parallel jobs) on spot, but AWS Batch does not run them there: they stay in RUNNABLE without an error. Use market "on-demand", or serve arrays.`,
      );
    }
    this.queue = new JobQueue(this, "Queue", {
      jobQueueName: queueName,
      schedulingPolicy,
      computeEnvironments: [{ order: 1, computeEnvironment: this.environment(props) }],
      // A job may wait for capacity, but not for a machine that can never exist.
      jobStateTimeLimitActions: [
        JobStateTimeLimitActionsReason.COMPUTE_ENVIRONMENT_MAX_RESOURCE,
        JobStateTimeLimitActionsReason.JOB_RESOURCE_REQUIREMENT,
      ].map((reason) => ({ reason, maxTime: misconfiguredPatience })),
    });
  }

  /** Without a name, so that a new one can be created before the old one is deleted. */
  private environment(props: TrainerQueueProps): ManagedEc2EcsComputeEnvironment {
    const { market, serves, machines, families, network, instances, config } = props;
    const spot = market === "spot";
    const { cpu, gpu, spotPricePercent } = config.compute;
    const environment = new ManagedEc2EcsComputeEnvironment(this, "Environment", {
      vpc: network.vpc,
      vpcSubnets: { subnets: [...(serves === "gangs" ? network.gangSubnets : network.subnets)] },
      securityGroups: [network.securityGroup],
      spot,
      ...(spot && spotPricePercent < 100 ? { spotBidPercentage: spotPricePercent } : {}),
      allocationStrategy: spot
        ? AllocationStrategy.SPOT_PRICE_CAPACITY_OPTIMIZED
        : AllocationStrategy.BEST_FIT_PROGRESSIVE,
      instanceClasses: [...families] as InstanceClass[],
      useOptimalInstanceClasses: false,
      images: [
        { imageType: machines === "gpu" ? EcsMachineImageType.ECS_AL2023_NVIDIA : EcsMachineImageType.ECS_AL2023 },
      ],
      minvCpus: 0,
      maxvCpus: machines === "gpu" ? gpu.maxVcpus : cpu.maxVcpus,
      // An update of the machines lets jobs run for six hours, Batch's maximum. The remaining jobs are retried on a new
      // machine.
      replaceComputeEnvironment: false,
      terminateOnUpdate: false,
      updateTimeout: Duration.hours(6),
      instanceRole: instances.role,
      launchTemplate: instances.launchTemplate,
      ...(serves === "gangs"
        ? { placementGroup: new PlacementGroup(this, "Placement", { strategy: PlacementGroupStrategy.CLUSTER }) }
        : {}),
    });
    const resource = environment.node.defaultChild as CfnComputeEnvironment;
    resource.type = "MANAGED"; // The spelling of the reference. CDK writes lower case.
    // Without a version, Batch would keep the template's first one.
    resource.addPropertyOverride(
      "ComputeResources.LaunchTemplate.Version",
      instances.launchTemplate.latestVersionNumber,
    );
    return environment;
  }
}
