import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CreateTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { createDocumentClient } from "../../adapters/dynamodb/client";
import { createModelRepository } from "../../adapters/dynamodb/model-repository";
import { createRegistry, type Registry } from "../../core/registry/registry";
import { createDynamoDb } from "../../local/dynamodb";
import { createFront } from "../../local/front";
import { listen, portOf } from "../../local/listen";
import { connection, table, team } from "./protocol";

export interface Store {
  readonly endpoint: string;
  readonly registry: Registry;
  close(): Promise<void>;
}

/** The embedded DynamoDB in a folder of its own, with a catalog. */
export async function startStore(): Promise<Store> {
  const directory = mkdtempSync(join(tmpdir(), "ringmaster-bench-promotions-"));
  const service = await createDynamoDb({ dataDirectory: directory });
  const front = createFront([service]);
  await listen(front, 0, "");
  const endpoint = `http://127.0.0.1:${portOf(front)}`;
  const client = new DynamoDBClient(connection(endpoint));
  await client.send(
    new CreateTableCommand({
      TableName: table,
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: ["pk", "sk"].map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
      KeySchema: [
        { AttributeName: "pk", KeyType: "HASH" },
        { AttributeName: "sk", KeyType: "RANGE" },
      ],
    }),
  );
  return {
    endpoint,
    registry: createRegistry(createModelRepository(createDocumentClient(client), table, team)),
    async close() {
      client.destroy();
      front.closeAllConnections();
      await new Promise((closed) => front.close(closed));
      await service.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
