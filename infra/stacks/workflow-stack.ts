import path from "node:path";
import { Duration, Stack, type StackProps } from "aws-cdk-lib";
import { Alarm, ComparisonOperator, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import type { StateMachine } from "aws-cdk-lib/aws-stepfunctions";
import type { Construct } from "constructs";
import { type FunctionName, functions } from "../../platform/functions";
import type { DeploymentConfig } from "../config";
import { functionCode } from "../constructs/bundled-code";
import { packageLayer } from "../constructs/package-layer";
import { PlatformFunction } from "../constructs/platform-function";
import { RunRole } from "../constructs/run-role";
import { TrainingStateMachine } from "../constructs/training-state-machine";
import { readFunctionPermissions } from "../grants";
import { callersEnvironment, platformEnvironment } from "../names";
import { retentionOf } from "../retention";

export interface WorkflowStackProps extends StackProps {
  readonly bundles: string;
  readonly nodeModules: string;
  /** The URI of the trainers' image, which the record of a run contains. */
  readonly trainerImage: string;
  readonly config: DeploymentConfig;
}

/** The functions that users call, which must know the teams of callers. */
const takesCalls: ReadonlySet<string> = new Set(["api", "stream-metrics"]);

/** The functions that create runs. The others are not deployed again for a new image. */
const makesRuns: ReadonlySet<string> = new Set(["api", "fire-triggers", "drive-study", "pipeline-step"]);

/** Minimum concurrency of an account in which functions reserve a part: AWS keeps 100, and steps of runs need some. */
const minConcurrencyToReserve = 300;

const withDeadLetters = functions
  .filter(({ asynchronous }) => asynchronous?.hasDeadLetterQueue)
  .map(({ name }) => name);

export class WorkflowStack extends Stack {
  readonly functions: ReadonlyMap<FunctionName, IFunction>;
  readonly stateMachine: StateMachine;
  /** The alarm for an event that a function could not process. The observability stack sends its notifications. */
  readonly deadLetters: Alarm;

  constructor(
    scope: Construct,
    id: string,
    { bundles, nodeModules, trainerImage, config, ...props }: WorkflowStackProps,
  ) {
    super(scope, id, props);
    const { prefix } = config;
    const { bucketKeyArn } = config.encryption;
    const environment = platformEnvironment(this, config);
    const permissions = readFunctionPermissions(bundles);
    const layers = {
      duckdb: packageLayer(this, "duckdb", nodeModules),
      onnx: packageLayer(this, "onnx", nodeModules),
      tfjs: packageLayer(this, "tfjs", nodeModules),
    };
    const deadLetterQueue = new Queue(this, "DeadLetters", {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    this.deadLetters = new Alarm(this, "DeadLettersAlarm", {
      alarmName: `${prefix}-dead-letters`,
      alarmDescription:
        `A function failed for an event three times (${withDeadLetters.join(", ")}): the event waits in the queue with its error. ` +
        'Sweeps repair most: find out why it failed. Runbook: docs/operations.md, "undelivered".',
      metric: deadLetterQueue.metricApproximateNumberOfMessagesVisible({
        period: Duration.minutes(5),
        statistic: "Maximum",
      }),
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      threshold: 0,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    this.functions = new Map(
      functions.map((definition) => [
        definition.name,
        new PlatformFunction(this, {
          definition,
          code: functionCode(bundles, definition.name),
          permissions: permissions[definition.name],
          layers: definition.externals.map((external) => layers[external]),
          environment: {
            ...environment,
            ...(takesCalls.has(definition.name) ? callersEnvironment(config) : {}),
            ...(makesRuns.has(definition.name) ? { RINGMASTER_TRAINER_IMAGE: trainerImage } : {}),
          },
          prefix,
          bucketKeyArn,
          retention: retentionOf(config),
          reserve: config.functions.accountConcurrency >= minConcurrencyToReserve,
          deadLetterQueue,
        }),
      ]),
    );
    const broker = this.functions.get("run-credentials")?.role;
    if (!broker) throw new Error("platform/functions.ts: run-credentials, which opens trainers' sessions, has no role");
    new RunRole(this, "RunRole", { prefix, broker, bucketKeyArn });
    this.stateMachine = new TrainingStateMachine(this, "TrainingRun", {
      prefix,
      definitionFile: path.join(bundles, "state-machines", "training-run.asl.json"),
      functions: this.functions,
      retention: retentionOf(config),
    });
  }
}
