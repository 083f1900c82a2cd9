import { absent, ex, requestOf, Table } from "../../../adapters/dynamodb/table";
import { localConfig } from "../../../stack/settings";
import { useEmbedded } from "../../support/embedded";

const embedded = useEmbedded();
let table: Table;
beforeAll(() => {
  table = new Table(embedded.dynamodb, localConfig().tables.catalog);
});

describe("expressions", () => {
  it("number their values across the expressions of a request, and name reserved attributes once", () => {
    const isOpen = ex`#status IN (${"queued"}, ${"running"})`;
    const request = requestOf({
      UpdateExpression: ex`SET #status = ${"ended"}${ex``}${ex`, #data.#size = ${3}`}`,
      ConditionExpression: ex`${absent} OR ${isOpen}`,
      FilterExpression: undefined,
    });
    expect(request).toEqual({
      UpdateExpression: "SET #status = :v0, #data.#size = :v1",
      ConditionExpression: "attribute_not_exists(pk) OR #status IN (:v2, :v3)",
      ExpressionAttributeNames: { "#status": "status", "#data": "data", "#size": "size" },
      ExpressionAttributeValues: { ":v0": "ended", ":v1": 3, ":v2": "queued", ":v3": "running" },
    });
  });

  it("without names and values add none, because DynamoDB refuses empty maps", () => {
    expect(requestOf({ ConditionExpression: absent })).toEqual({ ConditionExpression: "attribute_not_exists(pk)" });
  });
});

describe("a table", () => {
  const key = (sk: string) => ({ pk: "TABLE", sk });

  it("reports whether the condition of a write held", async () => {
    expect(await table.put({ ...key("a"), size: 1 }, absent)).toBe(true);
    expect(await table.put({ ...key("a"), size: 2 }, absent)).toBe(false);
    expect(await table.update(key("a"), ex`SET #size = ${5}`, ex`#size = ${1}`)).toBe(true);
    expect(await table.update(key("a"), ex`SET #size = ${6}`, ex`#size = ${1}`)).toBe(false);
    expect(await table.get(key("a"))).toEqual({ ...key("a"), size: 5 });
    await table.delete(key("a"));
    expect(await table.get(key("a"))).toBeUndefined();
  });

  it("makes all writes of a transaction or none", async () => {
    const both = (size: number) => [
      table.putting({ ...key("t1"), size }, absent),
      table.updating(key("t2"), ex`SET #size = ${size}`),
    ];
    expect(await table.transact(both(1))).toBe(true);
    expect(await table.transact(both(2))).toBe(false);
    expect(await table.tryTransact(both(3))).toBe(false);
    expect((await table.get(key("t2")))?.["size"]).toBe(1);
    const checked = [table.checking(key("t1"), ex`#size = ${1}`), table.deleting(key("t2"))];
    expect(await table.transact(checked)).toBe(true);
    expect(await table.get(key("t2"))).toBeUndefined();
  });

  it("writes, reads and deletes more rows than one call takes", async () => {
    const keys = Array.from({ length: 120 }, (_, i) => ({ pk: "MANY", sk: String(i).padStart(3, "0") }));
    await table.batchWrite(keys.map((one) => ({ ...one, n: 1 })));
    expect(await table.batchGet(keys)).toHaveLength(120);
    expect(await table.all(ex`pk = ${"MANY"} AND sk BETWEEN ${"010"} AND ${"019"}`)).toHaveLength(10);
    const first = await table.page(ex`pk = ${"MANY"}`, { limit: 100, descending: true }, ({ sk }) => sk);
    expect([first.items.length, first.items[0]]).toEqual([100, "119"]);
    const { nextToken } = first;
    const second = await table.page(ex`pk = ${"MANY"}`, { limit: 100, descending: true, nextToken }, ({ sk }) => sk);
    expect([second.items.length, second.items[0]]).toEqual([20, "019"]);
    await table.batchWrite([], keys);
    expect(await table.all(ex`pk = ${"MANY"}`)).toEqual([]);
  });

  it.each(["x", "bnVsbA", Buffer.from('{"pk":"MANY"}').toString("base64url")])(
    "refuses the page token %s with a message that names it",
    async (nextToken) => {
      const page = table.page(ex`pk = ${"MANY"}`, { nextToken }, (item) => item);
      await expect(page).rejects.toThrow(/nextToken/);
    },
  );
});
