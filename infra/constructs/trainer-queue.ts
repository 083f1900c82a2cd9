import {
  AllocationStrategy,
  EcsMachineImageType,
  JobQueue,
  ManagedEc2EcsComputeEnvironment,
} from "aws-cdk-lib/aws-batch";
import {
  BlockDeviceVolume,
  EbsDeviceVolumeType,
  type InstanceClass,
  LaunchTemplate,
  PlacementGroup,
  PlacementGroupStrategy,
} from "aws-cdk-lib/aws-ec2";
import { ManagedPolicy, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Construct } from "constructs";
import type { DeploymentConfig } from "../config";
import type { TrainerNetwork } from "./trainer-network";

export interface TrainerQueueProps {
  readonly queueName: string;
  readonly market: "spot" | "on-demand";
  /**
   * `arrays`: single-node jobs, which find each other by our own rendezvous. `gangs`: multi-node-parallel jobs as well, close together
   * in a cluster placement group.
   */
  readonly serves: "arrays" | "gangs";
  readonly network: TrainerNetwork;
  readonly config: DeploymentConfig;
}

/**
 * A queue over two compute environments, processors first: what asks for no GPU lands on machines without one, what does passes on to the second.
 *
 * @throws Error for gangs on spot: Batch leaves multi-node-parallel jobs there in RUNNABLE for ever, without an error
 */
export class TrainerQueue extends Construct {
  readonly queue: JobQueue;

  constructor(scope: Construct, id: string, props: TrainerQueueProps) {
    super(scope, id);
    const { queueName, market, serves, config } = props;
    if (serves === "gangs" && market === "spot") {
      throw new Error(
        `The queue "${queueName}" is to serve gangs (multi-node-parallel jobs) on spot, but AWS Batch does not run them there: they stay in RUNNABLE without an error. Use market "on-demand", or serve arrays.`,
      );
    }
    this.queue = new JobQueue(this, "Queue", {
      jobQueueName: queueName,
      computeEnvironments: [
        {
          order: 1,
          computeEnvironment: this.#environment(
            "Cpu",
            config.compute.cpu.instanceClasses,
            EcsMachineImageType.ECS_AL2023,
            props,
          ),
        },
        {
          order: 2,
          computeEnvironment: this.#environment(
            "Gpu",
            [config.compute.gpu.instanceClass],
            EcsMachineImageType.ECS_AL2023_NVIDIA,
            props,
          ),
        },
      ],
    });
  }

  #environment(
    id: string,
    instanceClasses: readonly string[],
    imageType: EcsMachineImageType,
    { market, serves, network, config }: TrainerQueueProps,
  ): ManagedEc2EcsComputeEnvironment {
    const spot = market === "spot";
    return new ManagedEc2EcsComputeEnvironment(this, id, {
      vpc: network.vpc,
      securityGroups: [network.securityGroup],
      spot,
      allocationStrategy: spot
        ? AllocationStrategy.SPOT_PRICE_CAPACITY_OPTIMIZED
        : AllocationStrategy.BEST_FIT_PROGRESSIVE,
      instanceClasses: instanceClasses as readonly InstanceClass[] as InstanceClass[],
      useOptimalInstanceClasses: false,
      images: [{ imageType }],
      minvCpus: 0,
      maxvCpus: config.compute.cpu.maxVcpus,
      instanceRole: new Role(this, `${id}InstanceRole`, {
        assumedBy: new ServicePrincipal("ec2.amazonaws.com"),
        managedPolicies: [ManagedPolicy.fromAwsManagedPolicyName("service-role/AmazonEC2ContainerServiceforEC2Role")],
      }),
      launchTemplate: new LaunchTemplate(this, `${id}Template`, {
        requireImdsv2: true,
        httpPutResponseHopLimit: 2, // from inside a container the metadata service is one hop further
        blockDevices: [
          {
            deviceName: "/dev/xvda",
            volume: BlockDeviceVolume.ebs(200, { encrypted: true, volumeType: EbsDeviceVolumeType.GP3 }),
          },
        ],
      }),
      ...(serves === "gangs"
        ? { placementGroup: new PlacementGroup(this, `${id}Placement`, { strategy: PlacementGroupStrategy.CLUSTER }) }
        : {}),
    });
  }
}
