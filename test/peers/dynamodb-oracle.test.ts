import { ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { dynamoDbContract } from "../local/dynamodb/contract";
import { connect } from "../local/dynamodb/harness";

/**
 * Holds Amazon's own DynamoDB Local to the same contract as the embedded DynamoDB. Wants one running:
 *
 *     java -cp 'lib/*' com.amazonaws.services.dynamodbv2.local.main.ServerRunner -inMemory -port 8000
 *     RINGMASTER_ORACLES=1 npx jest test/peers/dynamodb-oracle.test.ts    # RINGMASTER_ORACLE_DYNAMODB=http://… for another address
 */
const endpoint = process.env["RINGMASTER_ORACLE_DYNAMODB"] ?? "http://127.0.0.1:8000";
const asked = process.env["RINGMASTER_ORACLES"] !== undefined;

const client = connect(endpoint);
afterAll(() => client.destroy());

if (!asked) console.log("Skipped DynamoDB Local: set RINGMASTER_ORACLES=1 and run it to compare.");

(asked ? describe : describe.skip)("DynamoDB Local (skipped unless RINGMASTER_ORACLES is set)", () => {
  beforeAll(async () => {
    await client.send(new ListTablesCommand({})).catch((error: Error) => {
      throw new Error(`RINGMASTER_ORACLES is set, but no DynamoDB Local answers at ${endpoint}: ${error.message}`);
    });
  });
  dynamoDbContract(() => client);
});
