import type { AttributeValue, DynamoDB } from "@aws-sdk/client-dynamodb";
import { createTable, hashTable, type Item, N, put, rangeTable, refused, S } from "../harness";

export function itemsContract(client: () => DynamoDB): void {
  describe("items", () => {
    let table: string;
    beforeAll(async () => {
      table = await createTable(client(), hashTable);
    });
    const get = async (pk: string, projection?: string) => {
      const { Item } = await client().getItem({
        TableName: table,
        Key: { pk: S(pk) },
        ProjectionExpression: projection,
      });
      return Item;
    };

    it("returns every type as it was put", async () => {
      const item: Item = {
        pk: S("types"),
        string: S("ünïcode 😀"),
        empty: S(""),
        number: N("-12.5"),
        binary: { B: new Uint8Array([0, 255, 7]) },
        yes: { BOOL: true },
        nothing: { NULL: true },
        list: { L: [S("a"), N(1), { L: [] }, { M: {} }] },
        map: { M: { a: N(1), "b.c": S("dots are only characters"), constructor: S("own") } },
        __proto: S("x"),
      };
      await put(client(), table, item);
      expect(await get("types")).toEqual(item);
    });

    it("returns sets in any order", async () => {
      await put(client(), table, {
        pk: S("sets"),
        strings: { SS: ["b", "a"] },
        numbers: { NS: ["10", "9", "-1"] },
        binaries: { BS: [new Uint8Array([2]), new Uint8Array([1])] },
      });
      const item = await get("sets");
      expect([...(item?.["strings"]?.SS ?? [])].sort()).toEqual(["a", "b"]);
      expect([...(item?.["numbers"]?.NS ?? [])].map(Number).sort((a, b) => a - b)).toEqual([-1, 9, 10]);
      expect((item?.["binaries"]?.BS ?? []).map((bytes) => bytes[0]).sort()).toEqual([1, 2]);
    });

    it.each([
      ["1.50", "1.5"],
      ["-0.0", "0"],
      ["+7", "7"],
      ["007", "7"],
      ["1e3", "1000"],
      ["12E-2", "0.12"],
      [".5", "0.5"],
      ["12345678901234567890123456789012345678", "12345678901234567890123456789012345678"],
      ["9.9e125", `99${"0".repeat(124)}`],
      ["1e-130", `0.${"0".repeat(129)}1`],
    ])("brings the number %s to its canonical form", async (given, canonical) => {
      await put(client(), table, { pk: S("number"), n: N(given) });
      expect((await get("number"))?.["n"]).toEqual(N(canonical));
    });

    const wrong: readonly (readonly [string, AttributeValue])[] = [
      ["a number that is none", N("abc")],
      ["an empty number", N("")],
      ["a number too large", N("1e126")],
      ["a number too small", N("1e-131")],
      ["39 digits", N("123456789012345678901234567890123456789")],
      ["an empty set", { SS: [] }],
      ["a set with duplicates", { SS: ["a", "a"] }],
      ["a number set with equal numbers", { NS: ["1", "1.0"] }],
      ["a null that is false", { NULL: false as true }],
      ["a value without a type", {} as AttributeValue],
    ];
    it.each(wrong)("refuses %s", async (_case, value) => {
      const attempt = client().putItem({ TableName: table, Item: { pk: S("wrong"), x: value } });
      await refused(attempt, "ValidationException");
      expect(await get("wrong")).toBeUndefined();
    });

    const keys: readonly (readonly [string, Item])[] = [
      ["an item without its key", { x: N(1) }],
      ["an empty key", { pk: S("") }],
      ["a key of another type", { pk: N(1) }],
      ["a key over 2,048 bytes", { pk: S("k".repeat(2049)) }],
    ];
    it.each(keys)("refuses %s", async (_case, item) => {
      await refused(client().putItem({ TableName: table, Item: item }), "ValidationException");
    });

    it.each([
      ["too few attributes", { pk: S("a") }],
      ["too many attributes", { pk: S("a"), sk: N(1), x: N(1) }],
      ["another type", { pk: S("a"), sk: S("1") }],
    ] as readonly (readonly [string, Item])[])("refuses a key with %s", async (_case, key) => {
      const ranged = await createTable(client(), rangeTable("N"));
      await refused(client().getItem({ TableName: ranged, Key: key }), "ValidationException");
    });

    it("accepts at most 400 KB", async () => {
      // The names "pk" and "x" and the key "size" are also metered.
      const room = 400 * 1024 - "pk".length - "size".length - "x".length;
      await put(client(), table, { pk: S("size"), x: S("v".repeat(room)) });
      const more = { pk: S("size"), x: S("v".repeat(room + 1)) };
      await refused(client().putItem({ TableName: table, Item: more }), "ValidationException");
    });

    it("returns the old item of a put and of a delete on request", async () => {
      const item = { pk: S("old"), v: N(1) };
      const putIt = (v: number) =>
        client().putItem({ TableName: table, Item: { pk: S("old"), v: N(v) }, ReturnValues: "ALL_OLD" });
      expect((await putIt(1)).Attributes).toBeUndefined();
      expect((await putIt(2)).Attributes).toEqual(item);
      const remove = () => client().deleteItem({ TableName: table, Key: { pk: S("old") }, ReturnValues: "ALL_OLD" });
      expect((await remove()).Attributes).toEqual({ pk: S("old"), v: N(2) });
      expect((await remove()).Attributes).toBeUndefined();
      await refused(client().putItem({ TableName: table, Item: item, ReturnValues: "ALL_NEW" }), "ValidationException");
    });

    describe("projection", () => {
      beforeAll(() =>
        put(client(), table, {
          pk: S("p"),
          a: N(1),
          l: { L: [N(0), N(1), { M: { x: N(2), y: N(3) } }] },
          m: { M: { a: { M: { b: S("deep"), c: S("other") } }, "with.dot": N(9) } },
        }),
      );
      it.each([
        ["a", { a: N(1) }],
        ["a, m.a.b", { a: N(1), m: { M: { a: { M: { b: S("deep") } } } } }],
        ["l[1]", { l: { L: [N(1)] } }],
        ["l[2].x, l[0]", { l: { L: [N(0), { M: { x: N(2) } }] } }],
        ["absent, a.b, l[9]", {}],
      ] as readonly (readonly [string, Item])[])("%s", async (projection, expected) => {
        expect(await get("p", projection)).toEqual(expected);
      });

      it("resolves names", async () => {
        const { Item } = await client().getItem({
          TableName: table,
          Key: { pk: S("p") },
          ProjectionExpression: "m.#dot",
          ExpressionAttributeNames: { "#dot": "with.dot" },
        });
        expect(Item).toEqual({ m: { M: { "with.dot": N(9) } } });
      });

      it.each([
        ["a, a", /overlap/],
        ["m.a, m", /overlap/],
        ["m.a, m[0]", /conflict/],
        ["a b", /Syntax error; token: "b", near: "a b"/],
        ["a,", /Syntax error; token: "<EOF>", near: ","/],
        ["status", /reserved keyword: status/],
        ["#x", /not defined; attribute name: #x/],
        ["", /can not be empty/],
      ])("refuses %s", async (projection, message) => {
        await refused(get("p", projection), "ValidationException", message);
      });
    });
  });
}
