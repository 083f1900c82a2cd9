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
  /**
   * `arrays`: single-node jobs, which find each other by our own rendezvous. `gangs`: multi-node-parallel jobs as well, close together
   * in a cluster placement group.
   */
  readonly serves: "arrays" | "gangs";
  readonly machines: "cpu" | "gpu";
  readonly network: TrainerNetwork;
  readonly instances: TrainerInstances;
  readonly schedulingPolicy: ISchedulingPolicy;
  readonly config: DeploymentConfig;
}

/** How long a job that no machine of its queue could ever run heads the queue before it is cancelled; ten minutes is Batch's least. */
const misconfiguredPatience = Duration.minutes(10);

/**
 * A queue over one compute environment. Machines with and without GPUs do not share one: Batch sends what finds the first environment full to the
 * second, where it costs and computes differently.
 *
 * @throws Error for gangs on spot: Batch leaves multi-node-parallel jobs there in RUNNABLE for ever, without an error
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
      computeEnvironments: [{ order: 1, computeEnvironment: this.#environment(props) }],
      // Waiting for capacity is what a queue is for; waiting for a machine that there will never be is not.
      jobStateTimeLimitActions: [
        JobStateTimeLimitActionsReason.COMPUTE_ENVIRONMENT_MAX_RESOURCE,
        JobStateTimeLimitActionsReason.JOB_RESOURCE_REQUIREMENT,
      ].map((reason) => ({ reason, maxTime: misconfiguredPatience })),
    });
  }

  /** Without a name, so that it can be replaced: a change that Batch cannot make in place makes a new one before the old one goes. */
  #environment(props: TrainerQueueProps): ManagedEc2EcsComputeEnvironment {
    const { market, serves, machines, network, instances, config } = props;
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
      instanceClasses: (machines === "gpu" ? [gpu.instanceClass] : [...cpu.instanceClasses]) as InstanceClass[],
      useOptimalInstanceClasses: false,
      images: [
        { imageType: machines === "gpu" ? EcsMachineImageType.ECS_AL2023_NVIDIA : EcsMachineImageType.ECS_AL2023 },
      ],
      minvCpus: 0,
      maxvCpus: machines === "gpu" ? gpu.maxVcpus : cpu.maxVcpus,
      // An update of the machines lets jobs end for six hours, Batch's most; what is still there then is retried on a new one.
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
    resource.type = "MANAGED"; // as the reference spells it; CDK writes small letters
    // Without a version, Batch would stay with the template's first.
    resource.addPropertyOverride(
      "ComputeResources.LaunchTemplate.Version",
      instances.launchTemplate.latestVersionNumber,
    );
    return environment;
  }
}
