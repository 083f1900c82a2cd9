import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GetItemCommand, PutItemCommand, QueryCommand, ScanCommand } from "@aws-sdk/client-dynamodb";
import { applyRepair, listDamage } from "../../../local/repair";
import type { ExecutionSummary } from "../../../local/states/store/records";
import { Journal } from "../../../local/storage/journal";
import { JsonDatabase } from "../../../local/storage/json-database";
import { storesOf } from "../../../local/storage/stores";
import { createTable, hashTable, put, S, serveEmbedded } from "../dynamodb/harness";

let data: string;
let aside: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "ringmaster-repair-"));
  aside = join(data, "damaged-now");
});
afterEach(() => rmSync(data, { recursive: true, force: true }));

const seals = () => join(data, "seals");
const serve = () => serveEmbedded(join(data, "dynamodb"), undefined, seals());
const logOf = (directory: string) => join(directory, readdirSync(directory).find((name) => name.endsWith(".log"))!);

/** Flips a bit of the given text in a file. */
function damage(file: string, text: string): void {
  const bytes = readFileSync(file);
  const at = bytes.indexOf(text);
  if (at < 0) throw new Error(`${file} does not hold ${text}`);
  bytes[at]! ^= 1;
  writeFileSync(file, bytes);
}

describe("a damaged DynamoDB", () => {
  const shape = {
    ...hashTable,
    AttributeDefinitions: ["pk", "group"].map((AttributeName) => ({ AttributeName, AttributeType: "S" as const })),
    GlobalSecondaryIndexes: [
      {
        IndexName: "by-group",
        KeySchema: [{ AttributeName: "group", KeyType: "HASH" as const }],
        Projection: { ProjectionType: "ALL" as const },
      },
    ],
  };
  let table: string;

  beforeEach(async () => {
    const { client, stop } = await serve();
    table = await createTable(client, shape);
    for (const name of ["a", "b", "c"])
      await put(client, table, { pk: S(name), group: S("g"), v: S(`value of ${name}`) });
    await put(client, table, { pk: S("b"), group: S("g"), v: S("second value of b") });
    await stop();
  });

  it("is refused with the file and the command, and starts again without the lost item and with all others", async () => {
    damage(logOf(join(data, "dynamodb")), "value of c");
    await expect(serve()).rejects.toThrow(
      /data of dynamodb are damaged: .*\.log, byte \d+: a record fails its checksum.*ringmaster repair --list/,
    );

    const [report, ...others] = listDamage(data);
    expect(others).toEqual([]);
    expect(report).toMatchObject({
      store: "dynamodb",
      damages: [expect.stringContaining("a record fails its checksum")],
    });
    expect(report?.items).toContainEqual({ item: `item {"pk":{"S":"c"}} of table ${table}`, state: "lost" });

    await applyRepair(data, aside);
    expect(existsSync(join(aside, "dynamodb", "CURRENT"))).toBe(true);
    expect(listDamage(data)).toEqual([]);
    const { client, stop } = await serve();
    const { Items } = await client.send(new ScanCommand({ TableName: table }));
    expect(Items?.map(({ v }) => v?.S).sort()).toEqual(["second value of b", "value of a"]);
    const query = { TableName: table, IndexName: "by-group", KeyConditionExpression: "#g = :g" };
    const names = { ExpressionAttributeNames: { "#g": "group" }, ExpressionAttributeValues: { ":g": S("g") } };
    expect((await client.send(new QueryCommand({ ...query, ...names }))).Count).toBe(2);
    await client.send(new PutItemCommand({ TableName: table, Item: { pk: S("c"), group: S("g") } }));
    await stop();
  });

  it("keeps the older version of an item whose newest is damaged, and says so", async () => {
    damage(logOf(join(data, "dynamodb")), "second value of b");
    const [report] = await applyRepair(data, aside);
    const state = "uncertain: an older version is left";
    expect(report?.items).toContainEqual({ item: `item {"pk":{"S":"b"}} of table ${table}`, state });
    const { client, stop } = await serve();
    const { Item } = await client.send(new GetItemCommand({ TableName: table, Key: { pk: S("b") } }));
    expect(Item?.["v"]?.S).toBe("value of b");
    await stop();
  });

  it("keeps everything when only the list of files or the seal is damaged", async () => {
    for (const file of [join(data, "dynamodb", "CURRENT"), join(seals(), "dynamodb.seal")]) {
      const intact = readFileSync(file);
      writeFileSync(file, Buffer.alloc(intact.length, 65));
      expect((await applyRepair(data, `${aside}-${readdirSync(data).length}`)).map(({ items }) => items)).toEqual([[]]);
      const { client, stop } = await serve();
      expect((await client.send(new ScanCommand({ TableName: table }))).Count).toBe(3);
      await stop();
    }
  });

  it("is refused until the repair is completed, wherever the repair died", async () => {
    damage(logOf(join(data, "dynamodb")), "value of c");
    const before = join(data, "..", `${data.slice(data.lastIndexOf("/") + 1)}-before`);
    cpSync(data, before, { recursive: true });
    await applyRepair(data, aside);
    // As after a death between moving the old files and moving the new ones.
    const location = storesOf(before)[0]!;
    rmSync(location.directory, { recursive: true });
    await expect(serveEmbedded(location.directory, undefined, join(before, "seals"))).rejects.toThrow("is missing");
    cpSync(join(data, "dynamodb"), `${location.directory}.repaired`, { recursive: true });
    cpSync(join(seals(), "dynamodb.seal"), join(`${location.directory}.repaired`, "dynamodb.seal"));
    expect(await applyRepair(before, `${before}/aside`)).toEqual([
      { store: "dynamodb", damages: [], items: [], changes: ["an earlier repair is completed"] },
    ]);
    const { client, stop } = await serveEmbedded(location.directory, undefined, join(before, "seals"));
    expect((await client.send(new ScanCommand({ TableName: table }))).Count).toBe(2);
    await stop();
    rmSync(before, { recursive: true });
  });
});

describe("a damaged log of state machines", () => {
  const summaryOf = (name: string): ExecutionSummary => ({
    ...{
      machine: "m",
      name,
      status: "RUNNING",
      input: "{}",
      startedAt: 1,
      definition: "{}",
      roleArn: "",
      machineUpdatedAt: 1,
    },
  });
  const open = async () => {
    const db = new JsonDatabase({ directory: join(data, "states"), seals: seals(), store: "states" });
    await db.open();
    return db;
  };

  it("ends only the executions with lost records", async () => {
    const db = await open();
    for (const name of ["first", "second"]) {
      const put = (key: string, value: unknown) => db.put(key, value);
      await put(`x/m/${name}`, summaryOf(name));
      await put(`s/m/000000000000001/${name}`, "");
      await put(`r/m/${name}`, "");
      for (const seq of [1, 2]) await put(`l/m/${name}/0000000${seq}`, { seq, note: `${name} ${seq}` });
    }
    await db.close();
    damage(logOf(join(data, "states")), "second 1");
    const [report] = await applyRepair(data, aside);
    const item = "record 1 of the log of execution second of state machine m";
    expect(report).toMatchObject({ store: "states", items: [{ item, state: "lost" }] });
    expect(report?.changes).toEqual([expect.stringMatching(/^execution m\/second: .* FAILED$/)]);
    const repaired = await open();
    expect(repaired.get("x/m/first")).toMatchObject({ status: "RUNNING" });
    expect(repaired.get("r/m/first")).toBe("");
    expect(repaired.get("x/m/second")).toMatchObject({ status: "FAILED", error: "States.Runtime" });
    expect(repaired.get("r/m/second")).toBeUndefined();
    expect(repaired.get("o/m/second/FAILED")).toMatchObject({ detail: { status: "FAILED" } });
    await repaired.close();
  });
});

it("reports the events that a damaged journal has lost, and keeps the others", async () => {
  const path = join(data, "s3", "notifications.ndjson");
  mkdirSync(join(data, "s3"));
  const journal = new Journal<string>({ path, seals: seals() });
  journal.append(["one", "two", "three"]);
  journal.close();
  damage(path, "two");
  const items = [{ item: "event 2, which was not delivered yet", state: "lost" }];
  expect(listDamage(data)).toMatchObject([{ store: "notifications.ndjson", items }]);
  expect(await applyRepair(data, aside)).toMatchObject([{ items }]);
  const repaired = new Journal<string>({ path, seals: seals() });
  expect(repaired.recover()).toEqual(["one", "three"]);
  repaired.close();
});
