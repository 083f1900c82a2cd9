import { Stack, type StackProps } from "aws-cdk-lib";
import { ManagedPolicy, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { Construct } from "constructs";
import { functionNameIn } from "../../core/platform/functions";
import { trainerPermissions } from "../../core/platform/permissions";
import { resourceNames } from "../../core/platform/trainer-job";
import type { DeploymentConfig } from "../config";
import { TrainerJobDefinitions } from "../constructs/trainer-job-definitions";
import { TrainerNetwork } from "../constructs/trainer-network";
import { TrainerQueue } from "../constructs/trainer-queue";
import { grant } from "../grants";
import { platformEnvironment } from "../names";

export interface ComputeStackProps extends StackProps {
  readonly config: DeploymentConfig;
  /** Made within this stack, because an image asset belongs to one. */
  readonly trainerImage: (scope: Construct, executionRole: Role) => string;
}

/** Where training runs: the network, a queue for each market, and the trainer's job definitions. */
export class ComputeStack extends Stack {
  constructor(scope: Construct, id: string, props: ComputeStackProps) {
    super(scope, id, props);
    const { config } = props;
    const { prefix } = config;
    const names = resourceNames(prefix);
    const network = new TrainerNetwork(this, "Network");
    new TrainerQueue(this, "Spot", {
      queueName: names.jobQueueSpot,
      market: "spot",
      serves: "arrays",
      network,
      config,
    });
    new TrainerQueue(this, "OnDemand", {
      queueName: names.jobQueueOnDemand,
      market: "on-demand",
      serves: "gangs",
      network,
      config,
    });

    const assumedBy = new ServicePrincipal("ecs-tasks.amazonaws.com");
    const jobRole = new Role(this, "TrainerRole", { assumedBy });
    grant(jobRole, trainerPermissions, prefix);
    const executionRole = new Role(this, "TrainerExecutionRole", {
      assumedBy,
      managedPolicies: [ManagedPolicy.fromAwsManagedPolicyName("service-role/AmazonECSTaskExecutionRolePolicy")],
    });
    new TrainerJobDefinitions(this, "Trainer", {
      prefix,
      image: props.trainerImage(this, executionRole),
      jobRole,
      executionRole,
      environment: {
        ...platformEnvironment(this, prefix),
        RINGMASTER_INGEST_FUNCTION: functionNameIn(prefix, "ingest-metrics"),
      },
    });
  }
}
