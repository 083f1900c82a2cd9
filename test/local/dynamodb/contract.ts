import type { DynamoDB } from "@aws-sdk/client-dynamodb";
import { batchesContract } from "./contract/batches";
import { conditionsContract } from "./contract/conditions";
import { indexesContract } from "./contract/indexes";
import { itemsContract } from "./contract/items";
import { queriesContract } from "./contract/queries";
import { tablesContract } from "./contract/tables";
import { transactionsContract } from "./contract/transactions";
import { updatesContract } from "./contract/updates";

/**
 * Defines the tests of a DynamoDB through an unmodified SDK client. The embedded one and Amazon's DynamoDB Local
 * (`test/peers/dynamodb-oracle.test.ts`) must pass them. If the original fails, the contract is wrong. `client` is
 * called once the subject runs.
 */
export function dynamoDbContract(client: () => DynamoDB): void {
  tablesContract(client);
  itemsContract(client);
  conditionsContract(client);
  updatesContract(client);
  queriesContract(client);
  indexesContract(client);
  batchesContract(client);
  transactionsContract(client);
}
