import type { DynamoDB, UpdateItemCommandInput } from "@aws-sdk/client-dynamodb";
import { createTable, hashTable, type Item, N, put, refused, S } from "../harness";

const before: Item = {
  pk: S("a"),
  n: N(10),
  s: S("text"),
  l: { L: [N(0), N(1), N(2)] },
  m: { M: { a: N(1), deep: { M: { x: S("x") } } } },
  ss: { SS: ["a", "b"] },
};

type Case = readonly [expression: string, values: Item, after: Partial<Record<string, Item[string] | undefined>>];

const cases: readonly Case[] = [
  ["SET n = :v", { ":v": S("new type") }, { n: S("new type") }],
  ["SET n = n + :v", { ":v": N("0.5") }, { n: N("10.5") }],
  ["SET n = :v - n", { ":v": N(1) }, { n: N(-9) }],
  ["SET n = (n + :v)", { ":v": N(1) }, { n: N(11) }],
  ["SET x = n, n = :v", { ":v": N(1) }, { x: N(10), n: N(1) }],
  ["SET x = if_not_exists(x, :v)", { ":v": N(1) }, { x: N(1) }],
  ["SET n = if_not_exists(n, :v)", { ":v": N(1) }, { n: N(10) }],
  ["SET x = if_not_exists(x, :zero) + :v", { ":zero": N(0), ":v": N(1) }, { x: N(1) }],
  ["SET l = list_append(:v, l)", { ":v": { L: [S("start")] } }, { l: { L: [S("start"), N(0), N(1), N(2)] } }],
  [
    "SET x = list_append(if_not_exists(x, :none), :v)",
    { ":none": { L: [] }, ":v": { L: [N(1)] } },
    { x: { L: [N(1)] } },
  ],
  ["SET l[1] = :v", { ":v": S("b") }, { l: { L: [N(0), S("b"), N(2)] } }],
  ["SET l[9] = :v", { ":v": S("end") }, { l: { L: [N(0), N(1), N(2), S("end")] } }],
  ["SET l[0] = l[2], l[2] = l[0]", {}, { l: { L: [N(2), N(1), N(0)] } }],
  ["SET m.a = :v, m.b = m.a", { ":v": N(5) }, { m: { M: { a: N(5), b: N(1), deep: { M: { x: S("x") } } } } }],
  ["REMOVE n, absent", {}, { n: undefined }],
  ["REMOVE l[0], l[2]", {}, { l: { L: [N(1)] } }],
  ["REMOVE l[7], m.deep.x", {}, { m: { M: { a: N(1), deep: { M: {} } } } }],
  ["SET l[1] = :v REMOVE l[0]", { ":v": S("b") }, { l: { L: [S("b"), N(2)] } }],
  ["ADD n :v, x :v", { ":v": N(-3) }, { n: N(7), x: N(-3) }],
  ["ADD m.a :v, m.z :v", { ":v": N(1) }, { m: { M: { a: N(2), z: N(1), deep: { M: { x: S("x") } } } } }],
  ["ADD ss :v", { ":v": { SS: ["b", "c"] } }, { ss: { SS: ["a", "b", "c"] } }],
  ["set n = :v remove s add x :v", { ":v": N(1) }, { n: N(1), s: undefined, x: N(1) }],
];

const refusals: readonly (readonly [string, Item, RegExp])[] = [
  ["SET pk = :v", { ":v": S("b") }, /Cannot update attribute pk. This attribute is part of the key/],
  ["SET x = absent", {}, /refers to an attribute that does not exist in the item/],
  ["SET s = s + :v", { ":v": N(1) }, /An operand in the update expression has an incorrect data type/],
  ["SET x = list_append(n, l)", {}, /An operand in the update expression has an incorrect data type/],
  ["ADD ss :v", { ":v": { NS: ["1"] } }, /An operand in the update expression has an incorrect data type/],
  ["SET x.y = :v", { ":v": N(1) }, /document path provided in the update expression is invalid for update/],
  ["SET m[0] = :v", { ":v": N(1) }, /document path provided in the update expression is invalid for update/],
  ["REMOVE x.y", {}, /document path provided in the update expression is invalid for update/],
  ["SET n = :v SET s = :v", { ":v": N(1) }, /The "SET" section can only be used once/],
  ["SET n = :v, n = :v", { ":v": N(1) }, /overlap.*path one: \[n\], path two: \[n\]/],
  ["SET m.a = :v REMOVE m", { ":v": N(1) }, /overlap.*path one: \[m, a\], path two: \[m\]/],
  ["SET m.a = :v, m[0] = :v", { ":v": N(1) }, /conflict.*path one: \[m, a\], path two: \[m, \[0\]\]/],
  ["SET n = n + :v + :v", { ":v": N(1) }, /Syntax error; token: "\+", near: ":v \+ :v"/],
  ["CHANGE n = :v", { ":v": N(1) }, /Syntax error; token: "CHANGE", near: "CHANGE n"/],
  ["SET n = size(l)", {}, /not allowed in an update expression; function: size/],
  ["SET n = nonsense(l)", {}, /Invalid function name; function: nonsense/],
  ["SET n = if_not_exists(:v, :v)", { ":v": N(1) }, /requires a document path; operator or function: if_not_exists/],
  ["SET n = list_append(:v, l)", { ":v": N(1) }, /Incorrect operand type.*list_append, operand type: N/],
  ["SET x = if_not_exists(n, absent)", {}, /refers to an attribute that does not exist in the item/],
  ["SET x = if_not_exists(absent, absent)", {}, /must be distinct.*if_not_exists, first operand: \[absent\]/],
  ["SET x = if_not_exists(absent, n + :v)", { ":v": N(1) }, /Syntax error; token: "\+", near: "n \+ :v"/],
  ["SET x = list_append(list_append(l, l), l)", {}, /not allowed to be used this way.*function: list_append/],
  ["SET x = if_not_exists(s.a[0], :v)", { ":v": N(1), ":w": N(1) }, /unused in expressions: keys: \{:w\}/],
  ["ADD l :v", { ":v": { L: [] } }, /Incorrect operand type.*operator: ADD, operand type: LIST/],
  ["SET status = :v", { ":v": N(1) }, /reserved keyword: status/],
  ["SET n = n + :v", { ":v": N("1e-40") }, /38/],
  ["SET n = n + :v", { ":v": N("9.99e125") }, /38|overflow/],
];

export function updatesContract(client: () => DynamoDB): void {
  describe("updates", () => {
    let table: string;
    beforeAll(async () => {
      table = await createTable(client(), hashTable);
    });
    const update = (expression: string | undefined, values: Item = {}, more: Partial<UpdateItemCommandInput> = {}) =>
      client().updateItem({
        TableName: table,
        Key: { pk: S("a") },
        UpdateExpression: expression,
        ExpressionAttributeValues: Object.keys(values).length > 0 ? values : undefined,
        ...more,
      });
    const current = async () => (await client().getItem({ TableName: table, Key: { pk: S("a") } })).Item;

    describe("of an existing item", () => {
      beforeEach(() => put(client(), table, before));

      it.each(cases)("%s", async (expression, values, after) => {
        const { Attributes } = await update(expression, values, { ReturnValues: "ALL_NEW" });
        const expected = Object.fromEntries(
          Object.entries({ ...before, ...after }).filter(([, value]) => value !== undefined),
        );
        expect(Attributes).toEqual(expected);
        expect(await current()).toEqual(expected);
      });

      it.each(refusals)("refuses %s", async (expression, values, message) => {
        await refused(update(expression, values), "ValidationException", message);
        expect(await current()).toEqual(before);
      });

      it.each([
        ["NONE", undefined],
        ["ALL_OLD", before],
        ["UPDATED_OLD", { n: N(10) }],
        ["UPDATED_NEW", { n: N(11), x: N(1) }],
      ] as const)("returns %s", async (ReturnValues, expected) => {
        const { Attributes } = await update("ADD n :one, x :one", { ":one": N(1) }, { ReturnValues });
        expect(Attributes).toEqual(expected);
      });

      it("changes nothing when the condition fails", async () => {
        const attempt = update("SET n = :v", { ":v": N(1), ":no": N(0) }, { ConditionExpression: "n = :no" });
        await refused(attempt, "ConditionalCheckFailedException");
        expect(await current()).toEqual(before);
      });

      it("refuses an item that would grow past 400 KB", async () => {
        const attempt = update("SET x = :v", { ":v": S("v".repeat(400 * 1024)) });
        await refused(attempt, "ValidationException", /exceeded the maximum allowed size/);
      });
    });

    it("creates a missing item", async () => {
      const table2 = await createTable(client(), hashTable);
      const create = (UpdateExpression?: string) =>
        client().updateItem({
          TableName: table2,
          Key: { pk: S("new") },
          UpdateExpression,
          ExpressionAttributeValues: UpdateExpression ? { ":one": N(1) } : undefined,
          ReturnValues: "ALL_NEW",
        });
      expect((await create("ADD visits :one")).Attributes).toEqual({ pk: S("new"), visits: N(1) });
      expect((await create()).Attributes).toEqual({ pk: S("new"), visits: N(1) });
    });

    it("counts every one of many concurrent additions", async () => {
      await put(client(), table, { pk: S("a"), n: N(0) });
      await Promise.all(Array.from({ length: 40 }, () => update("ADD n :one", { ":one": N(1) })));
      expect(await current()).toEqual({ pk: S("a"), n: N(40) });
    });
  });
}
