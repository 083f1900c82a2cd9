import { rmSync } from "node:fs";
import { QueryCommand, ScanCommand } from "@aws-sdk/client-dynamodb";
import { systemClock } from "../../../local/clock";
import { openDynamoDb } from "../../../local/dynamodb/open";
import { compose, kind, successor } from "../../../local/dynamodb/store/key-codec";
import { toDefinition } from "../../../local/dynamodb/store/table";
import { ManualClock } from "../../support/manual-clock";
import { createTable, hashTable, N, put, S, serveEmbedded, temporaryDirectory } from "./harness";

/** Table changes whose work grows with the table are recorded first. Here the process dies right after that. */
describe("a process that died in the middle of a table's change", () => {
  let directory: string;
  beforeEach(() => {
    directory = temporaryDirectory();
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  async function prepared(): Promise<string> {
    const { client, stop } = await serveEmbedded(directory);
    const table = await createTable(client, hashTable);
    await put(
      client,
      table,
      { pk: S("a"), g: S("x"), expires: N(1_000) },
      { pk: S("b"), g: S("x") },
      { pk: S("c"), g: N(1) },
    );
    await stop();
    return table;
  }

  it("fills the index", async () => {
    const name = await prepared();
    const { context, close } = await openDynamoDb(directory, systemClock);
    await context.store.write((draft) => {
      const definition = toDefinition(context.catalog.get(name));
      const index = {
        id: definition.nextIndexId,
        name: "by-g",
        scope: "global" as const,
        key: { hash: { name: "g", type: "S" as const } },
        projection: "ALL" as const,
        include: [],
        status: "CREATING" as const,
        throughput: { read: 0, write: 0 },
      };
      context.catalog.replace(draft, { ...definition, indexes: [index], nextIndexId: index.id + 1 });
    });
    await close();
    const { client, stop } = await serveEmbedded(directory);
    const page = await client.send(
      new QueryCommand({
        TableName: name,
        IndexName: "by-g",
        KeyConditionExpression: "g = :g",
        ExpressionAttributeValues: { ":g": S("x") },
      }),
    );
    await stop();
    expect(page.Items?.map((item) => item["pk"]?.S).sort()).toEqual(["a", "b"]);
  });

  it("notes the expiries", async () => {
    const name = await prepared();
    const { context, close } = await openDynamoDb(directory, systemClock);
    await context.store.write((draft) => {
      const definition = toDefinition(context.catalog.get(name));
      context.catalog.replace(draft, { ...definition, timeToLive: { attribute: "expires", ready: false } });
    });
    await close();
    const reopened = await openDynamoDb(directory, new ManualClock(2_000_000));
    await reopened.context.maintenance.sweep();
    await reopened.close();
    const { client, stop } = await serveEmbedded(directory);
    const { Items } = await client.send(new ScanCommand({ TableName: name }));
    await stop();
    expect(Items?.map((item) => item["pk"]?.S).sort()).toEqual(["b", "c"]);
  });

  it("removes all of a dropped table", async () => {
    const name = await prepared();
    const { context, close } = await openDynamoDb(directory, systemClock);
    const { id } = context.catalog.get(name);
    const items = { gte: compose(kind.item, [id]), lt: successor(compose(kind.item, [id])) };
    await context.store.write((draft) => {
      const table = context.catalog.get(name);
      context.catalog.remove(draft, table);
      context.maintenance.scheduleRemoval(draft, table);
    });
    expect(await context.store.keys(items)).toHaveLength(3);
    await close();
    const reopened = await openDynamoDb(directory, systemClock);
    const left = await reopened.context.store.keys({ gte: Buffer.from([0]), lt: Buffer.from([255]) });
    await reopened.close();
    // Only the counter of table ids is left.
    expect(left.map((key) => key.toString("latin1"))).toEqual([kind.table]);
  });
});
