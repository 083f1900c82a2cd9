import { RemovalPolicy } from "aws-cdk-lib";
import { AttributeType, BillingMode, ProjectionType, Table, TableEncryption } from "aws-cdk-lib/aws-dynamodb";
import type { Construct } from "constructs";
import { type KeyAttribute, type TableDefinition, tableNameIn } from "../../core/platform/tables";

/** One of the platform's tables: on demand, encrypted, restorable to any second of the last 35 days, and kept when its stack goes. */
export class PlatformTable extends Table {
  constructor(scope: Construct, prefix: string, definition: TableDefinition) {
    super(scope, definition.name, {
      tableName: tableNameIn(prefix, definition.name),
      partitionKey: attribute(definition.partitionKey),
      sortKey: attribute(definition.sortKey),
      billingMode: BillingMode.PAY_PER_REQUEST,
      encryption: TableEncryption.AWS_MANAGED,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
      ...(definition.timeToLive === undefined ? {} : { timeToLiveAttribute: definition.timeToLive }),
    });
    for (const index of definition.indexes) {
      this.addGlobalSecondaryIndex({
        indexName: index.name,
        partitionKey: attribute(index.partitionKey),
        sortKey: attribute(index.sortKey),
        projectionType: ProjectionType.ALL,
      });
    }
  }
}

const attribute = ({ name, type }: KeyAttribute) => ({
  name,
  type: type === "S" ? AttributeType.STRING : AttributeType.NUMBER,
});
