import { rmSync } from "node:fs";
import fc from "fast-check";
import { type OpenDynamoDb, openDynamoDb } from "../../../local/dynamodb";
import { operations } from "../../../local/dynamodb/operations";
import { Fields } from "../../../local/dynamodb/wire/fields";
import { ManualClock } from "../../support/manual-clock";
import { attributes, indexBy, keySchema, temporaryDirectory } from "./harness";
import { type Action, applyToModel, itemId, type Model, type Row, toRequest } from "./model";

describe("the store and a map", () => {
  const key = fc.record({ pk: fc.constantFrom("a", "b"), sk: fc.integer({ min: -3, max: 3 }) });
  const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 3 });
  const row: fc.Arbitrary<Row> = fc.record({
    pk: fc.constantFrom("a", "b"),
    sk: fc.integer({ min: -3, max: 3 }),
    g: optional(fc.constantFrom("x", "y")),
    score: optional(fc.integer({ min: -2, max: 2 })),
    v: fc.integer({ min: 0, max: 9 }),
  });
  const single: fc.Arbitrary<Action> = fc.oneof(
    fc.record({ kind: fc.constant("put" as const), row, onlyNew: fc.boolean() }),
    fc.record({ kind: fc.constant("delete" as const), key }),
    fc.record({ kind: fc.constant("add" as const), key, amount: fc.integer({ min: -5, max: 5 }) }),
    fc.record({ kind: fc.constant("move" as const), key, g: optional(fc.constantFrom("x", "y")) }),
  );
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant("one" as const), action: single }) },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant("transaction" as const),
        actions: fc.uniqueArray(single, { minLength: 1, maxLength: 4, selector: itemId }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("reopen" as const) }) },
  );

  it("agree", async () => {
    const directory = temporaryDirectory();
    const clock = new ManualClock(0);
    let db = await openDynamoDb(directory, clock);
    let tables = 0;
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 4 }), async (steps, limit) => {
          const table = `model-${tables++}`;
          await call(db, "CreateTable", { TableName: table, ...shape });
          let model: Model = new Map();
          for (const one of steps) {
            if (one.kind === "reopen") {
              await db.close();
              db = await openDynamoDb(directory, clock);
              continue;
            }
            const actions = one.kind === "one" ? [one.action] : one.actions;
            const expected = applyToModel(model, actions);
            const done = await attempt(db, table, one.kind === "one", actions);
            expect(done).toBe(expected !== undefined);
            model = expected ?? model;
          }
          await compare(db, table, model, limit);
        }),
        { numRuns: 60, seed: 20_260_101 },
      );
    } finally {
      await db.close();
      rmSync(directory, { recursive: true, force: true });
    }
  });
});

const shape = {
  BillingMode: "PAY_PER_REQUEST",
  AttributeDefinitions: attributes({ pk: "S", sk: "N", g: "S", score: "N" }),
  KeySchema: keySchema("pk", "sk"),
  GlobalSecondaryIndexes: [indexBy("by-g", "g", "score")],
};

async function call(db: OpenDynamoDb, name: string, input: object): Promise<Record<string, unknown>> {
  const answer = await operations.get(name)!(db.context, Fields.of(JSON.parse(JSON.stringify(input))));
  return JSON.parse(typeof answer === "string" ? answer : JSON.stringify(answer)) as Record<string, unknown>;
}

async function attempt(db: OpenDynamoDb, table: string, alone: boolean, actions: readonly Action[]): Promise<boolean> {
  const requests = actions.map((action) => toRequest(table, action));
  try {
    if (alone) await call(db, `${requests[0]!.name}Item`, requests[0]!.input);
    else
      await call(db, "TransactWriteItems", { TransactItems: requests.map(({ name, input }) => ({ [name]: input })) });
    return true;
  } catch (error) {
    if (/ConditionalCheckFailed|TransactionCanceled/.test((error as Error).name)) return false;
    throw error;
  }
}

interface Wire {
  readonly pk: { S: string };
  readonly sk: { N: string };
  readonly g?: { S: string };
  readonly score?: { N: string };
  readonly v?: { N: string };
}

const number = (value: { N: string } | undefined) => (value === undefined ? undefined : Number(value.N));

function fromWire(item: Wire): Row {
  return { pk: item.pk.S, sk: Number(item.sk.N), g: item.g?.S, score: number(item.score), v: number(item.v) };
}

async function all(db: OpenDynamoDb, operation: string, input: object, limit: number): Promise<Row[]> {
  const rows: Row[] = [];
  let start: unknown;
  do {
    const page = await call(db, operation, { ...input, Limit: limit, ExclusiveStartKey: start });
    rows.push(...(page["Items"] as Wire[]).map(fromWire));
    start = page["LastEvaluatedKey"];
  } while (start !== undefined);
  return rows;
}

async function compare(db: OpenDynamoDb, table: string, model: Model, limit: number): Promise<void> {
  const rows = [...model.values()];
  const bySk = (a: Row, b: Row) => a.pk.localeCompare(b.pk) || a.sk - b.sk;
  const scanned = await all(db, "Scan", { TableName: table }, limit);
  expect(scanned.sort(bySk)).toEqual([...rows].sort(bySk));
  const query = (name: string, value: string, IndexName: string | undefined, ScanIndexForward: boolean) =>
    all(
      db,
      "Query",
      {
        TableName: table,
        IndexName,
        ScanIndexForward,
        KeyConditionExpression: `${name} = :hash`,
        ExpressionAttributeValues: { ":hash": { S: value } },
      },
      limit,
    );
  for (const forward of [true, false]) {
    const turned = (list: Row[]) => (forward ? list : list.reverse());
    for (const pk of ["a", "b"]) {
      const own = rows.filter((row) => row.pk === pk);
      expect(await query("pk", pk, undefined, forward)).toEqual(turned([...own].sort(bySk)));
    }
    for (const g of ["x", "y"]) {
      const entries = await query("g", g, "by-g", forward);
      const own = rows.filter((row) => row.g === g && row.score !== undefined);
      expect(entries.map((row) => row.score)).toEqual(
        turned([...own].sort((a, b) => a.score! - b.score!)).map((row) => row.score),
      );
      expect([...entries].sort(bySk)).toEqual([...own].sort(bySk));
    }
  }
}
