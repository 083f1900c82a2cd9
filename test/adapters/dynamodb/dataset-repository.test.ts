import { CreateTableCommand } from "@aws-sdk/client-dynamodb";
import { createDocumentClient } from "../../../adapters/dynamodb/client";
import { createDatasetRepository } from "../../../adapters/dynamodb/dataset-repository";
import { Table } from "../../../adapters/dynamodb/table";
import { InvalidInputError } from "../../../core/errors";
import { tables } from "../../../platform/tables";
import { describeDatasetRepository } from "../../core/datasets/repository-contract";
import { type Subject, startEmbedded } from "../../local/dynamodb/harness";

describe("dataset repository in DynamoDB", () => {
  const catalog = tables.find(({ name }) => name === "Catalog")!;
  let subject: Subject;
  let made = 0;
  beforeAll(async () => {
    subject = await startEmbedded();
  });
  afterAll(() => subject.stop());

  const create = async () => {
    const table = `Catalog-${++made}`;
    const [gsi1] = catalog.indexes;
    await subject.client.send(
      new CreateTableCommand({
        TableName: table,
        BillingMode: "PAY_PER_REQUEST",
        AttributeDefinitions: ["pk", "sk", "gsi1pk", "gsi1sk"].map((AttributeName) => ({
          AttributeName,
          AttributeType: "S",
        })),
        KeySchema: [
          { AttributeName: "pk", KeyType: "HASH" },
          { AttributeName: "sk", KeyType: "RANGE" },
        ],
        GlobalSecondaryIndexes: [
          {
            IndexName: gsi1!.name,
            KeySchema: [
              { AttributeName: gsi1!.partitionKey.name, KeyType: "HASH" },
              { AttributeName: gsi1!.sortKey.name, KeyType: "RANGE" },
            ],
            Projection: { ProjectionType: "ALL" },
          },
        ],
      }),
    );
    const client = createDocumentClient(subject.client);
    return (team: string) => createDatasetRepository(new Table(client, table), team);
  };

  describeDatasetRepository(create);

  it("refuses a page token that it did not issue", async () => {
    const repository = (await create())("red");
    // A text that is not JSON, and JSON that is not a key of the index.
    for (const nextToken of ["???", Buffer.from("{}").toString("base64url")])
      await expect(repository.list({ limit: 1, nextToken })).rejects.toThrow(InvalidInputError);
  });
});
