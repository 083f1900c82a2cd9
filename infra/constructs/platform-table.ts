import {
  AttributeType,
  BillingMode,
  type CfnTable,
  ProjectionType,
  Table,
  TableEncryption,
} from "aws-cdk-lib/aws-dynamodb";
import type { Construct } from "constructs";
import { type KeyAttribute, type TableDefinition, tableNameIn } from "../../platform/tables";
import type { DeploymentConfig } from "../config";
import { removalOf } from "../retention";

/** On demand up to a limit, encrypted, restorable for 35 days, and kept when its stack is deleted. */
export class PlatformTable extends Table {
  constructor(scope: Construct, definition: TableDefinition, config: DeploymentConfig) {
    const { maxReadUnits, maxWriteUnits } = config.tables;
    // On-demand tables are limited only by the account's quota. This limits the cost of a faulty loop.
    const limits = { maxReadRequestUnits: maxReadUnits, maxWriteRequestUnits: maxWriteUnits };
    super(scope, definition.name, {
      tableName: tableNameIn(config.prefix, definition.name),
      partitionKey: attribute(definition.partitionKey),
      sortKey: attribute(definition.sortKey),
      billingMode: BillingMode.PAY_PER_REQUEST,
      ...limits,
      encryption: TableEncryption.AWS_MANAGED,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true, recoveryPeriodInDays: 35 },
      deletionProtection: config.removal === "retain",
      removalPolicy: removalOf(config),
      ...(definition.timeToLive === undefined ? {} : { timeToLiveAttribute: definition.timeToLive }),
    });
    for (const index of definition.indexes) {
      this.addGlobalSecondaryIndex({
        indexName: index.name,
        partitionKey: attribute(index.partitionKey),
        sortKey: attribute(index.sortKey),
        projectionType: ProjectionType.ALL,
        ...limits,
      });
    }
    (this.node.defaultChild as CfnTable).overrideLogicalId(`${definition.name}Table`);
  }
}

const attribute = ({ name, type }: KeyAttribute) => ({
  name,
  type: type === "S" ? AttributeType.STRING : AttributeType.NUMBER,
});
