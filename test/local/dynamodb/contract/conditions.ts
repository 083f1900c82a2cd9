import type { DynamoDB } from "@aws-sdk/client-dynamodb";
import { createTable, hashTable, type Item, N, put, refused, S } from "../harness";

const stored: Item = {
  pk: S("item"),
  s: S("straße"),
  n: N("10"),
  b: { B: new Uint8Array([1, 2, 3]) },
  yes: { BOOL: true },
  nil: { NULL: true },
  l: { L: [N(1), S("two"), { M: { x: N(3) } }] },
  m: { M: { a: N(1), b: S("x") } },
  ss: { SS: ["a", "b"] },
  ns: { NS: ["1", "2"] },
  constructor: S("own"),
};

const values: Item = {
  ":s": S("straße"),
  ":stra": S("stra"),
  ":n": N("10.0"),
  ":one": N(1),
  ":two": N(2),
  ":six": N(6),
  ":nine": N(9),
  ":eleven": N(11),
  ":b": { B: new Uint8Array([1, 2, 3]) },
  ":b2": { B: new Uint8Array([2, 3]) },
  ":b1": { B: new Uint8Array([1]) },
  ":true": { BOOL: true },
  ":null": { NULL: true },
  ":ss": { SS: ["b", "a"] },
  ":m": { M: { b: S("x"), a: N(1) } },
  ":a": S("a"),
};

const truths: readonly (readonly [string, boolean])[] = [
  ["s = :s", true],
  ["n = :n", true],
  ["n = :s", false],
  ["n <> :s", true],
  ["b = :b", true],
  ["yes = :true", true],
  ["nil = :null", true],
  ["ss = :ss", true],
  ["m = :m", true],
  ["absent = :n", false],
  ["absent <> :n", true],
  ["absent < :n", false],
  ["n > :nine AND n < :eleven", true],
  ["n >= :n AND n <= :n", true],
  ["s > :n", false],
  ["b > :b1", true],
  ["n BETWEEN :nine AND :eleven", true],
  ["n between :one and :nine", false],
  ["s BETWEEN :one AND :nine", false],
  ["n IN (:one, :n)", true],
  ["NOT (n = :n OR n = :n)", false],
  ["n = :one OR n = :n AND s = :s", true],
  ["(n = :one OR n = :n) AND s = :a", false],
  ["(n) = (:n)", true],
  ["attribute_exists(s) AND attribute_not_exists(absent)", true],
  ["attribute_exists(toString)", false],
  ["attribute_exists(m.a) AND attribute_not_exists(m.z)", true],
  ["attribute_exists(l[2].x) AND attribute_not_exists(l[3])", true],
  ["l[1] = :s OR m.a = :one", true],
  ["begins_with(s, :stra)", true],
  ["begins_with(b, :b1)", true],
  ["begins_with(b, :b2)", false],
  ["begins_with(n, :a)", false],
  ["size(l) > :two AND size(ss) = :two AND size(m) = :two", true],
  ["size(s) = :six AND size(b) > :two", true],
  ["size(n) > :one", false],
  ["size(absent) = :one", false],
  ["size(absent) <> :one", true],
];

const malformed: readonly (readonly [string, RegExp])[] = [
  ["", /The expression can not be empty;/],
  ["n == :n", /Syntax error; token: "=", near: "== :n"/],
  ["n = :n)", /Syntax error; token: "\)", near: ":n\)"/],
  ["n", /Syntax error; token: "<EOF>", near: "n"/],
  ["n = 1", /Syntax error; token: "1", near: "= 1"/],
  ["n IN (s, n)", /first operand must be distinct.*operator: IN, first operand: \[n\]/],
  ["n IN ()", /Syntax error; token: "\)", near: "\(\)"/],
  ["n[x] = :n", /Syntax error; token: "x", near: "\[x\]"/],
  ["_n = :n", /Syntax error; token: "_", near: "_n"/],
  ["n = n", /first operand must be distinct.*operator: =, first operand: \[n\]/],
  ["attribute_exists(:n)", /requires a document path; operator or function: attribute_exists/],
  ["attribute_exists(n, s)", /Incorrect number of operands.*attribute_exists, number of operands: 2/],
  ["attribute_exists(n) = :n", /not allowed to be used this way in an expression; function: attribute_exists/],
  ["size(s)", /not allowed to be used this way in an expression; function: size/],
  ["size(:n) > :n", /Incorrect operand type.*operator or function: size, operand type: N/],
  ["nonsense(n)", /Invalid function name; function: nonsense/],
  ["begins_with(s, :n)", /Incorrect operand type.*begins_with, operand type: N/],
  ["n < :true", /Incorrect operand type.*operator or function: <, operand type: BOOL/],
  ["n BETWEEN :eleven AND :nine", /upper bound to be greater than or equal to lower bound/],
  ["n BETWEEN :nine AND :s", /requires same data type for lower and upper bounds/],
  ["data = :n", /reserved keyword: data/],
  ["n = :undefined", /not defined; attribute value: :undefined/],
  ["#undefined = :n", /not defined; attribute name: #undefined/],
];

export function conditionsContract(client: () => DynamoDB): void {
  describe("conditions", () => {
    let table: string;
    beforeAll(async () => {
      table = await createTable(client(), hashTable);
      await put(client(), table, stored);
    });
    /** Returns the values that an expression uses. Unused ones would be refused. */
    const used = (expression: string) => {
      const names = new Set(expression.match(/:[a-zA-Z0-9]+/g) ?? []);
      const entries = Object.entries(values).filter(([name]) => names.has(name));
      return entries.length > 0 ? Object.fromEntries(entries) : undefined;
    };
    const putIf = (ConditionExpression: string) => {
      const ExpressionAttributeValues = used(ConditionExpression);
      return client().putItem({ TableName: table, Item: stored, ConditionExpression, ExpressionAttributeValues });
    };

    it.each(truths)("%s is %s, as a condition and as a filter", async (expression, truth) => {
      if (truth) await putIf(expression);
      else await refused(putIf(expression), "ConditionalCheckFailedException", /^The conditional request failed$/);
      const page = await client().scan({
        TableName: table,
        FilterExpression: expression,
        ExpressionAttributeValues: used(expression),
      });
      expect([page.Count, page.ScannedCount]).toEqual([truth ? 1 : 0, 1]);
    });

    it.each(malformed)("refuses %s", async (expression, message) => {
      await refused(putIf(expression), "ValidationException", message);
    });

    it("orders strings by their UTF-8 bytes", async () => {
      // U+FF01 is one UTF-16 unit that sorts after the surrogates of U+1F600, but its three bytes sort before U+1F600's
      // four.
      await put(client(), table, { pk: S("utf8"), s: S("\u{1F600}") });
      await client().deleteItem({
        TableName: table,
        Key: { pk: S("utf8") },
        ConditionExpression: "s > :low",
        ExpressionAttributeValues: { ":low": S("\uFF01") },
      });
    });

    it("compares numbers of any length exactly", async () => {
      await put(client(), table, { pk: S("digits"), n: N("0.12345678901234567890123456789012345678") });
      const remove = (operator: string) =>
        client().deleteItem({
          TableName: table,
          Key: { pk: S("digits") },
          ConditionExpression: `n ${operator} :n`,
          ExpressionAttributeValues: { ":n": N("0.12345678901234567890123456789012345677") },
        });
      await refused(remove("<="), "ConditionalCheckFailedException");
      await remove(">");
    });

    it("returns the item of a failed condition on request", async () => {
      const attempt = (ReturnValuesOnConditionCheckFailure: "ALL_OLD" | "NONE") =>
        client().putItem({
          TableName: table,
          Item: { pk: S("item") },
          ConditionExpression: "attribute_not_exists(pk)",
          ReturnValuesOnConditionCheckFailure,
        });
      const sent = await refused(attempt("ALL_OLD"), "ConditionalCheckFailedException");
      expect((sent as { Item?: Item }).Item?.["s"]).toEqual(S("straße"));
      const silent = await refused(attempt("NONE"), "ConditionalCheckFailedException");
      expect((silent as { Item?: Item }).Item).toBeUndefined();
    });

    it("refuses unused and missing placeholders", async () => {
      const attempt = (input: object) => client().putItem({ TableName: table, Item: { pk: S("x") }, ...input });
      const unused = /unused in expressions: keys: \{(:u|#u)\}/;
      const one = { ConditionExpression: "n = :n", ExpressionAttributeValues: { ":n": N(1) } };
      const refusals: readonly (readonly [object, RegExp])[] = [
        [{ ...one, ExpressionAttributeValues: { ":n": N(1), ":u": N(1) } }, unused],
        [{ ...one, ExpressionAttributeNames: { "#u": "x" } }, unused],
        [{ ...one, ExpressionAttributeValues: { n: N(1) } }, /invalid key: Syntax error; key: "n"/],
        [{ ...one, ExpressionAttributeValues: {} }, /ExpressionAttributeValues must not be empty/],
        [{ ExpressionAttributeValues: { ":n": N(1) } }, /can only be specified when using expressions/],
        [{ ExpressionAttributeNames: { "#n": "n" } }, /can only be specified when using expressions/],
      ];
      for (const [input, message] of refusals) await refused(attempt(input), "ValidationException", message);
    });

    it("lets one of many writers win", async () => {
      const ConditionExpression = "attribute_not_exists(pk)";
      const attempts = Array.from({ length: 20 }, (_, i) =>
        client().putItem({ TableName: table, Item: { pk: S("race"), winner: N(i) }, ConditionExpression }),
      );
      const outcomes = await Promise.allSettled(attempts);
      const lost = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason.name] : []));
      expect(lost).toEqual(Array(19).fill("ConditionalCheckFailedException"));
    });
  });
}
