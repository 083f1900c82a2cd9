import { rmSync } from "node:fs";
import { systemClock } from "../../../local/clock";
import { openDynamoDb } from "../../../local/dynamodb";
import { compose, kind, successor } from "../../../local/dynamodb/store/key-codec";
import { toDefinition } from "../../../local/dynamodb/store/table";
import { ManualClock } from "../../support/manual-clock";
import { createTable, hashTable, N, put, S, serveEmbedded, temporaryDirectory } from "./harness";

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
        id: 0,
        name: "by-g",
        key: { hash: { name: "g", type: "S" as const } },
        status: "CREATING" as const,
      };
      context.catalog.replace(draft, { ...definition, indexes: [index] });
    });
    await close();
    const { client, stop } = await serveEmbedded(directory);
    const page = await client.query({
      TableName: name,
      IndexName: "by-g",
      KeyConditionExpression: "g = :g",
      ExpressionAttributeValues: { ":g": S("x") },
    });
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
    const { Items } = await client.scan({ TableName: name });
    await stop();
    expect(Items?.map((item) => item["pk"]?.S).sort()).toEqual(["b", "c"]);
  });

  it("removes the expiries that must be derived again", async () => {
    const name = await prepared();
    const { context, close } = await openDynamoDb(directory, systemClock);
    const expiries = { gte: Buffer.from(kind.expiry), lt: successor(Buffer.from(kind.expiry)) };
    await context.store.write((draft) => {
      draft.put(compose(kind.expiry, [context.catalog.get(name).id, 1]), "");
      context.maintenance.scheduleRemoval(draft, context.catalog.get(name));
    });
    expect(await context.store.keys(expiries)).toHaveLength(1);
    await close();
    const reopened = await openDynamoDb(directory, systemClock);
    const left = await reopened.context.store.keys(expiries);
    await reopened.close();
    expect(left).toEqual([]);
  });
});
