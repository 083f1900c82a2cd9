import { Duration, RemovalPolicy, Size } from "aws-cdk-lib";
import { PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import {
  Architecture,
  type Code,
  type ILayerVersion,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  Tracing,
} from "aws-cdk-lib/aws-lambda";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import { type FunctionDefinition, functionNameIn } from "../../platform/functions";
import type { Permission } from "../../platform/permissions";
import { grant } from "../grants";

export const functionRuntime = Runtime.NODEJS_22_X;

export interface PlatformFunctionProps {
  readonly definition: FunctionDefinition;
  readonly code: Code;
  readonly permissions: readonly Permission[];
  readonly layers: readonly ILayerVersion[];
  readonly environment: Readonly<Record<string, string>>;
  readonly prefix: string;
  readonly bucketKeyArn?: string | undefined;
  readonly retention: RetentionDays;
  readonly reserve?: boolean;
  readonly deadLetterQueue?: IQueue;
}

export class PlatformFunction extends LambdaFunction {
  constructor(scope: Construct, props: PlatformFunctionProps) {
    const { definition, code, permissions, layers, environment, prefix, bucketKeyArn } = props;
    const { retention, reserve = false, deadLetterQueue } = props;
    const { name, timeoutSeconds, memoryMb, storageMb, asynchronous, concurrency } = definition;
    const keeper = asynchronous?.hasDeadLetterQueue ? deadLetterQueue : undefined;
    const functionName = functionNameIn(prefix, name);
    const logGroup = new LogGroup(scope, `${name}-log`, {
      logGroupName: `/aws/lambda/${functionName}`,
      retention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = new Role(scope, `${name}-role`, { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
    logGroup.grantWrite(role);
    grant(role, permissions, prefix, bucketKeyArn);
    super(scope, name, {
      functionName,
      code,
      handler: "handler.handler",
      runtime: functionRuntime,
      // The same processor family as the trainers', because features computed on another one would not be
      // bit-identical.
      architecture: Architecture.X86_64,
      timeout: Duration.seconds(timeoutSeconds),
      memorySize: memoryMb,
      ephemeralStorageSize: storageMb === undefined ? undefined : Size.mebibytes(storageMb),
      layers: [...layers],
      environment: { ...environment, NODE_OPTIONS: "--enable-source-maps" },
      role,
      logGroup,
      loggingFormat: LoggingFormat.TEXT, // The functions write JSON lines themselves.
      tracing: Tracing.ACTIVE,
      ...(reserve && concurrency !== undefined ? { reservedConcurrentExecutions: concurrency } : {}),
      ...(asynchronous === undefined
        ? {}
        : {
            retryAttempts: asynchronous.retries,
            maxEventAge: Duration.seconds(asynchronous.maxAgeSeconds),
            ...(keeper ? { onFailure: { bind: () => ({ destination: keeper.queueArn }) } } : {}),
          }),
    });
    // CDK's own destination would also grant the right to read the queue's attributes.
    if (keeper)
      role.addToPrincipalPolicy(new PolicyStatement({ actions: ["sqs:SendMessage"], resources: [keeper.queueArn] }));
    // Tracing does not support resources.
    role.addToPrincipalPolicy(
      new PolicyStatement({ actions: ["xray:PutTraceSegments", "xray:PutTelemetryRecords"], resources: ["*"] }),
    );
  }
}
