import { Stack } from "aws-cdk-lib";
import { CfnJobDefinition } from "aws-cdk-lib/aws-batch";
import type { IRole } from "aws-cdk-lib/aws-iam";
import { Construct } from "constructs";
import { resourceNames, trainerJob } from "../../platform/trainer-job";

export interface TrainerJobDefinitionsProps {
  readonly prefix: string;
  /** URI of the image. */
  readonly image: string;
  /** What the trainer acts as. */
  readonly jobRole: IRole;
  /** What fetches the image and opens the log stream. */
  readonly executionRole: IRole;
  readonly environment: Readonly<Record<string, string>>;
}

/** The image's own user (trainer-container/Dockerfile). */
const user = "10001";
/** A disk of the job's own, which the image leaves to that user: shards, tensors on their way out. */
const scratch = "/scratch";

/**
 * The trainer as Batch starts it: `single` alone or as an array, `gang` as one multi-node-parallel job. How large, how many and of which run a
 * submission says. The low-level construct, because CDK's own closes the node range, and ours must stay open (`0:`).
 */
export class TrainerJobDefinitions extends Construct {
  constructor(scope: Construct, id: string, props: TrainerJobDefinitionsProps) {
    super(scope, id);
    const names = resourceNames(props.prefix);
    const container: CfnJobDefinition.ContainerPropertiesProperty = {
      image: props.image,
      jobRoleArn: props.jobRole.roleArn,
      executionRoleArn: props.executionRole.roleArn,
      privileged: false,
      user,
      // User code writes to its scratch disk and a small /tmp, and nowhere else.
      readonlyRootFilesystem: true,
      volumes: [{ name: "scratch" }],
      mountPoints: [{ sourceVolume: "scratch", containerPath: scratch, readOnly: false }],
      linuxParameters: {
        initProcessEnabled: true, // passes signals on, and buries what the trainer leaves behind
        sharedMemorySize: 1024, // MiB; Docker's 64 are too few for NCCL and TensorFlow
        tmpfs: [{ containerPath: "/tmp", size: 64 }],
      },
      ulimits: [
        // A connection to each other worker and open shards.
        { name: "nofile", softLimit: 65_536, hardLimit: 65_536 },
        // Pages that a GPU reads from may not be swapped out.
        { name: "memlock", softLimit: -1, hardLimit: -1 },
      ],
      environment: Object.entries({
        ...props.environment,
        // The SDK needs one, and on EC2 nobody else says it: ECS does so on Fargate only.
        AWS_REGION: Stack.of(this).region,
        TMPDIR: scratch,
        RINGMASTER_CACHE_DIR: `${scratch}/shards`,
      }).map(([name, value]) => ({ name, value })),
      resourceRequirements: [
        { type: "VCPU", value: "1" },
        { type: "MEMORY", value: "2048" },
      ],
      logConfiguration: {
        logDriver: "awslogs",
        options: { "awslogs-group": names.jobLogGroup, "awslogs-region": Stack.of(this).region },
      },
    };
    const common = {
      retryStrategy: {
        attempts: trainerJob.attempts,
        evaluateOnExit: trainerJob.evaluateOnExit.map((rule) => ({ ...rule })),
      },
      timeout: { attemptDurationSeconds: trainerJob.timeoutSeconds },
      propagateTags: true,
      // Runs that were submitted with an older revision may still be retried.
      resourceRetentionPolicy: { skipDeregisterOnUpdate: true },
    };
    new CfnJobDefinition(this, "Single", {
      ...common,
      jobDefinitionName: names.jobDefinition,
      type: "container",
      platformCapabilities: ["EC2"],
      containerProperties: container,
    });
    new CfnJobDefinition(this, "Gang", {
      ...common,
      jobDefinitionName: names.jobDefinitionGang,
      type: "multinode",
      nodeProperties: { numNodes: 2, mainNode: 0, nodeRangeProperties: [{ targetNodes: "0:", container }] },
    });
  }
}
