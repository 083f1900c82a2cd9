import type { ApiClient } from "../../client/api-client";
import { completeRows, neededViews, viewWarnings } from "../../client/complete-rows";
import type { ColumnSchema } from "../../core/datasets/shapes";
import type { FeatureTransform } from "../../core/features/shapes";
import { viewVersionOf } from "../core/feature-store/versions";

const version = viewVersionOf({
  ...{ name: "spend", entities: ["customer", "day"], eventTime: "at" },
  columns: { customer: "int", day: "timestamp", at: "timestamp", spend: "float", plan: "string" },
});
const day = Date.parse("2026-01-01T00:00:00.000Z");

const column = (name: string, type: "float" | "string", more: object = {}): ColumnSchema => {
  return { name, type, role: "feature", from: { view: "spend@1", feature: name }, ...more };
};
const inputSchema: readonly ColumnSchema[] = [
  column("spend", "float"),
  column("plan", "string", { nullable: true, missing: ["NA"] }),
  column("unused", "float"),
  { name: "age", type: "int", role: "feature" },
];
const output = { kind: "numeric", offset: 0, width: 1, source: 0, mean: 0, deviation: 1 } as const;
const transform: FeatureTransform = {
  outputs: ["spend", "plan", "age"].map((name) => ({ ...output, column: name })),
  width: 1,
  shape: [1],
};

/** A client whose online store has a spend of ten times the customer, for customers below 1,000. */
function clientOf(newest = version) {
  const requests: (readonly object[])[] = [];
  const call = async (name: string, request: { readonly body?: { readonly entities: readonly object[] } }) => {
    if (name === "getFeatureView") return { version: newest };
    if (name === "getFeatureViewVersion") return { version };
    const entities = request.body!.entities as readonly { readonly customer: number }[];
    requests.push(entities);
    const rows = entities.map(({ customer }) => ({
      features: customer < 1_000 ? { spend: customer * 10, plan: customer % 2 ? "NA" : "pro" } : { spend: null },
      eventTimes: { spend: customer < 1_000 ? "2026-01-01T00:00:00.000Z" : null },
    }));
    return { rows };
  };
  return { client: { call } as unknown as Pick<ApiClient, "call">, requests };
}

async function complete(rows: readonly Readonly<Record<string, unknown>>[]) {
  const { client, requests } = clientOf();
  const views = await neededViews(client, { inputSchema, transform });
  return { rows: await completeRows(client, views, rows), requests };
}

describe("rows of a model that reads features of views", () => {
  it("report the entities that have no row", async () => {
    const { client } = clientOf();
    const nullable = inputSchema.map((each) => ({ ...each, nullable: true }));
    const views = await neededViews(client, { inputSchema: nullable, transform });
    const absent: unknown[] = [];
    const rows = [1, 1_000, 2_000].map((customer) => ({ customer, day: "2026-01-01T00:00:00.000Z" }));
    const completed = await completeRows(client, views, rows, (view, entities) => absent.push([view, entities.length]));
    expect(completed.map(({ spend }) => spend)).toEqual([10, null, null]);
    expect(absent).toEqual([["spend@1", 2]]);
  });

  it("get the columns that they lack, and keep the values that they have", async () => {
    const { rows, requests } = await complete([
      { customer: 2, day: "2026-01-01T00:00:00.000Z", age: 41 },
      // A time of a file is in milliseconds. The same entity is read once.
      { customer: 2, day, spend: 1, age: 3 },
      { customer: 4, day, spend: 1, plan: null, age: 3 },
      { spend: 5, plan: "own" },
    ]);
    expect(rows.map(({ spend, plan }) => [spend, plan])).toEqual([
      [20, "pro"],
      [1, "pro"],
      [1, null],
      [5, "own"],
    ]);
    expect(requests).toEqual([[{ customer: 2, day: "2026-01-01T00:00:00.000Z" }]]);
    expect(rows[0]).toMatchObject({ customer: 2, age: 41 });
  });

  it("have null for a missing token, and for an entity that is missing", async () => {
    expect((await complete([{ customer: 1, day }])).rows[0]).toMatchObject({ spend: 10, plan: null });
    const { rows, requests } = await complete([{ customer: null, day, spend: 1 }]);
    expect([rows[0]!["plan"], requests]).toEqual([null, []]);
  });

  it("are read with at most 100 entities in a request", async () => {
    const { rows, requests } = await complete(Array.from({ length: 205 }, (_, customer) => ({ customer, day })));
    expect(requests.map((entities) => entities.length)).toEqual([100, 100, 5]);
    expect(rows.map(({ spend }) => spend)).toEqual(Array.from({ length: 205 }, (_, customer) => customer * 10));
  });

  it.each([
    ["no entity", { day }, "rows[0].customer must be given, as int"],
    ["an entity of another type", { customer: "2", day }, 'rows[0].customer is "2", but must be given, as int'],
    ["an unknown entity", { customer: 5_000, day }, "rows[0].spend has no value in spend@1 for"],
    [
      "a missing entity",
      { customer: null, day },
      "rows[0].spend has no value in spend@1 for an entity that is missing",
    ],
  ])("are refused with %s", async (_case, row, text) => {
    await expect(complete([row])).rejects.toThrow(text);
  });

  it("are those of a fixed version, which a newer generation makes stale", async () => {
    const views = async (newest: typeof version) => neededViews(clientOf(newest).client, { inputSchema, transform });
    expect(viewWarnings(await views({ ...version, version: 2 }))).toEqual([]);
    expect(viewWarnings(await views({ ...version, version: 3, generation: 2 }))).toEqual([
      "spend@1 gets no new rows since spend@3, which is not compatible; train the model with spend@3",
    ]);
    const [needed] = await views(version);
    expect(needed!.columns.map(({ feature }) => feature)).toEqual(["spend", "plan"]);
    expect(await neededViews(clientOf().client, { inputSchema: inputSchema.slice(3), transform })).toEqual([]);
  });
});
