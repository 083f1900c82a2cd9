import { CfnOutput, Stack, type StackProps } from "aws-cdk-lib";
import { type CfnLogGroup, FilterPattern, LogGroup, MetricFilter } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { tables } from "../../platform/tables";
import { resourceNames } from "../../platform/trainer-job";
import type { DeploymentConfig } from "../config";
import { DataBucket } from "../constructs/data-bucket";
import { PlatformTable } from "../constructs/platform-table";
import { bucketNameIn } from "../names";
import { gpuErrorsMetric } from "../observability/metrics";
import { removalOf, retentionOf } from "../retention";

export interface DataStackProps extends StackProps {
  readonly config: DeploymentConfig;
}

/**
 * The resources that outlive everything else. `test/infra/platform/upgrade.ts` fails for a change that would replace or delete it.
 */
export class DataStack extends Stack {
  constructor(scope: Construct, id: string, { config, ...props }: DataStackProps) {
    super(scope, id, { ...props, terminationProtection: config.removal === "retain" });
    const { prefix } = config;
    for (const definition of tables) new PlatformTable(this, definition, config);
    new DataBucket(this, "Data", config);
    const trainerLog = new LogGroup(this, "TrainerLog", {
      logGroupName: resourceNames(prefix).jobLogGroup,
      retention: retentionOf(config),
      removalPolicy: removalOf(config),
    });
    (trainerLog.node.defaultChild as CfnLogGroup).overrideLogicalId("TrainerLogGroup");
    const hostLog = new LogGroup(this, "HostLog", {
      logGroupName: resourceNames(prefix).hostLogGroup,
      retention: retentionOf(config),
      removalPolicy: removalOf(config),
    });
    (hostLog.node.defaultChild as CfnLogGroup).overrideLogicalId("HostLogGroup");
    new MetricFilter(this, "GpuErrors", {
      logGroup: hostLog,
      filterPattern: FilterPattern.literal('"NVRM: Xid"'),
      ...gpuErrorsMetric(prefix),
      metricValue: "1",
    });
    new CfnOutput(this, "BucketName", { value: bucketNameIn(prefix) });
  }
}
