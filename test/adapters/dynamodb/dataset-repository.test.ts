import { CreateTableCommand } from "@aws-sdk/client-dynamodb";
import { createDatasetRepository } from "../../../adapters/dynamodb/dataset-repository";
import { Table } from "../../../adapters/dynamodb/table";
import { InvalidInputError } from "../../../core/errors";
import { tables } from "../../../platform/tables";
import { describeDatasetRepository } from "../../core/datasets/repository-contract";
import { shapeOf } from "../../local/dynamodb/harness";
import { useEmbedded } from "../../support/embedded";

describe("dataset repository in DynamoDB", () => {
  const embedded = useEmbedded();
  const catalog = tables.find(({ name }) => name === "Catalog")!;
  let made = 0;

  const create = async () => {
    const TableName = `Catalog-${++made}`;
    await embedded.dynamodb.send(new CreateTableCommand({ TableName, ...shapeOf(catalog) }));
    return (team: string) => createDatasetRepository(new Table(embedded.dynamodb, TableName), team);
  };

  describeDatasetRepository(create);

  it("refuses a page token that it did not issue", async () => {
    const repository = (await create())("red");
    // A text that is not JSON, and JSON that is not a key of the index.
    for (const nextToken of ["???", Buffer.from("{}").toString("base64url")])
      await expect(repository.list({ limit: 1, nextToken })).rejects.toThrow(InvalidInputError);
  });
});
