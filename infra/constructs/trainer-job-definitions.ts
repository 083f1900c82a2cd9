import { Stack } from "aws-cdk-lib";
import { CfnJobDefinition } from "aws-cdk-lib/aws-batch";
import type { IRole } from "aws-cdk-lib/aws-iam";
import { Construct } from "constructs";
import { hostDirectory } from "../../platform/host-files";
import { resourceNames, trainerJob } from "../../platform/trainer-job";

export interface TrainerJobDefinitionsProps {
  readonly prefix: string;
  readonly image: string;
  readonly jobRole: IRole;
  readonly executionRole: IRole;
  readonly environment: Readonly<Record<string, string>>;
}

/** The image's own user (trainer-container/Dockerfile). */
const user = "10001";
const scratch = "/scratch";

/**
 * `single` for a plain job or an array, `gang` for a multi-node parallel one. CDK's own construct would close the node
 * range `0:`.
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
      // User code can write only to its scratch disk and a small /tmp.
      readonlyRootFilesystem: true,
      volumes: [{ name: "scratch" }, { name: "host", host: { sourcePath: hostDirectory } }],
      mountPoints: [
        { sourceVolume: "scratch", containerPath: scratch, readOnly: false },
        { sourceVolume: "host", containerPath: hostDirectory, readOnly: true },
      ],
      linuxParameters: {
        initProcessEnabled: true, // Forwards signals, and reaps the processes that the trainer leaves.
        sharedMemorySize: 1024, // In MiB. Docker's 64 are too few for NCCL and TensorFlow.
        tmpfs: [{ containerPath: "/tmp", size: 64 }],
      },
      ulimits: [
        // For a connection to each other worker, and open shards.
        { name: "nofile", softLimit: 65_536, hardLimit: 65_536 },
        // Memory that a GPU reads directly must not be swapped out.
        { name: "memlock", softLimit: -1, hardLimit: -1 },
      ],
      environment: Object.entries({
        ...props.environment,
        // The SDK needs the region, and ECS sets it only on Fargate.
        AWS_REGION: Stack.of(this).region,
        TMPDIR: scratch,
        RINGMASTER_HOST_DIRECTORY: hostDirectory,
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
