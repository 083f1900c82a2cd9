import { dynamoDbContract } from "../local/dynamodb/contract";
import { connect } from "../local/dynamodb/harness";
import { describeWithOriginal, endpoint } from "./dynamodb-original";

/** Holds Amazon's own DynamoDB Local to the same contract as the embedded DynamoDB: where it fails, the contract is wrong. */
describeWithOriginal("DynamoDB Local", () => {
  const client = connect(endpoint);
  afterAll(() => client.destroy());
  dynamoDbContract(() => client);
});
