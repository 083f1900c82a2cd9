import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { batchesContract } from "./contract/batches";
import { conditionsContract } from "./contract/conditions";
import { indexesContract } from "./contract/indexes";
import { itemsContract } from "./contract/items";
import { queriesContract } from "./contract/queries";
import { tablesContract } from "./contract/tables";
import { transactionsContract } from "./contract/transactions";
import { updatesContract } from "./contract/updates";

/**
 * What a DynamoDB does, seen through a stock SDK client. The embedded one must pass it, and so must Amazon's own DynamoDB
 * Local (`test/peers/dynamodb-oracle.test.ts`): where the original fails, the contract is wrong. `client` is called once
 * the subject runs.
 */
export function dynamoDbContract(client: () => DynamoDBClient): void {
  tablesContract(client);
  itemsContract(client);
  conditionsContract(client);
  updatesContract(client);
  queriesContract(client);
  indexesContract(client);
  batchesContract(client);
  transactionsContract(client);
}
