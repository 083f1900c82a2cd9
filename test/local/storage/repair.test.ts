import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { ClassicLevel } from "classic-level";
import { listDamage } from "../../../local/repair";
import { Journal } from "../../../local/storage/journal";
import { JsonDatabase } from "../../../local/storage/json-database";
import { flipBit, objectFiles } from "../../support/damage";
import { attributes, createTable, hashTable, indexBy, put, S, serveEmbedded } from "../dynamodb/harness";
import { startS3 } from "../s3/harness";

let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "ringmaster-repair-"));
});
afterEach(() => rmSync(data, { recursive: true, force: true }));

async function damage(store: string, text: string): Promise<void> {
  const level = new ClassicLevel<Buffer, string>(join(data, store), { keyEncoding: "buffer" });
  for await (const [key, value] of level.iterator()) {
    if (value.includes(text)) await level.put(key, value.replace(text, "damaged"));
  }
  await level.close();
}

async function repair(): Promise<void> {
  for (const item of await listDamage(data)) await item.delete!();
  expect(await listDamage(data)).toEqual([]);
}

describe("a damaged DynamoDB", () => {
  const shape = {
    ...hashTable,
    AttributeDefinitions: attributes({ pk: "S", group: "S" }),
    GlobalSecondaryIndexes: [indexBy("by-group", "group")],
  };
  const serve = () => serveEmbedded(join(data, "dynamodb"));
  let table: string;

  beforeEach(async () => {
    const { client, stop } = await serve();
    table = await createTable(client, shape);
    for (const name of ["a", "b", "c"])
      await put(client, table, { pk: S(name), group: S("g"), v: S(`value of ${name}`) });
    await stop();
  });

  it("names a damaged item to its reader, and is whole without it when it is deleted", async () => {
    await damage("dynamodb", "value of c");
    const damaged = await serve();
    const get = (name: string) => new GetItemCommand({ TableName: table, Key: { pk: S(name) } });
    await expect(damaged.client.send(get("c"))).rejects.toThrow(`item {"pk":{"S":"c"}} of table ${table} is damaged`);
    expect((await damaged.client.send(get("a"))).Item?.["v"]?.S).toBe("value of a");
    await damaged.stop();

    expect((await listDamage(data)).map(({ reason }) => reason).sort()).toEqual([
      `an entry of index by-group of table ${table}`,
      `item {"pk":{"S":"c"}} of table ${table}`,
    ]);
    await repair();
    const { client, stop } = await serve();
    const { Items } = await client.scan({ TableName: table });
    expect(Items?.map(({ v }) => v?.S).sort()).toEqual(["value of a", "value of b"]);
    const query = { TableName: table, IndexName: "by-group", KeyConditionExpression: "#g = :g" };
    const names = { ExpressionAttributeNames: { "#g": "group" }, ExpressionAttributeValues: { ":g": S("g") } };
    expect((await client.query({ ...query, ...names })).Count).toBe(2);
    await stop();
  });

  it("does not delete the definition of a table", async () => {
    await damage("dynamodb", `"name":"${table}"`);
    expect(await listDamage(data)).toEqual([
      { item: expect.stringMatching(/^dynamodb\/54/), reason: `the definition of table ${table}` },
    ]);
    await expect(serve()).rejects.toThrow("ringmaster repair");
  });
});

it("deletes a whole execution if a record of its log is damaged", async () => {
  const open = async () => {
    const db = new JsonDatabase({ directory: join(data, "states"), store: "states" });
    await db.open();
    return db;
  };
  const db = await open();
  for (const name of ["first", "second"]) {
    const rows = [`x/m/${name}`, `s/m/000000000000001/${name}`, `r/m/${name}`, `o/m/${name}/RUNNING`];
    for (const key of [...rows, `l/m/${name}/00000001`, `l/m/${name}/00000002`]) await db.put(key, `${name} ${key}`);
  }
  await db.close();
  await damage("states", "second l/m/second/00000002");
  expect(await listDamage(data)).toMatchObject([
    { item: "states/l/m/second/00000002", reason: "record 2 of the log of execution second of state machine m" },
  ]);
  await repair();
  const repaired = await open();
  expect((await repaired.keys()).every((key) => key.includes("first"))).toBe(true);
  expect((await repaired.keys()).length).toBe(6);
  await repaired.close();
});

it("deletes a damaged line of a journal, and keeps the others", async () => {
  const path = join(data, "events", "events-journal.ndjson");
  mkdirSync(join(data, "events"));
  const journal = new Journal<string>(path);
  for (const event of ["one", "two", "three"]) journal.append([event]);
  journal.close();
  writeFileSync(path, readFileSync(path, "utf8").replace("two", "2"));
  expect(await listDamage(data)).toMatchObject([{ item: "events-journal.ndjson:2" }]);
  await repair();
  const repaired = new Journal<string>(path);
  expect(repaired.recover()).toEqual(["one", "three"]);
  repaired.close();
});

it("finds damaged objects, and deletes them", async () => {
  const directory = join(data, "s3");
  const s3 = await startS3({ directory });
  await s3.client.createBucket({ Bucket: "bucket" });
  for (const Key of ["a/whole", "a/damaged"])
    await s3.client.putObject({ Bucket: "bucket", Key, Body: "x".repeat(100_000) });
  await s3.close();
  for (const file of objectFiles(directory, "bucket", "a/damaged")) flipBit(file, 70_000);
  expect(await listDamage(data)).toMatchObject([
    { item: "s3://bucket/a/damaged", reason: expect.stringContaining("bytes 65536 to 99999") },
  ]);
  await repair();
});
