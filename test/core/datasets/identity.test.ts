import { schemaChanges, schemaHashOf, versionDigestOf } from "../../../core/datasets/identity";
import type { ColumnSchema } from "../../../core/datasets/shapes";
import { sha256 } from "../../../core/digest";

const x: ColumnSchema = { name: "x", type: "tensor", shape: [2, 2], role: "feature" };
const y: ColumnSchema = { name: "y", type: "int", role: "label" };

describe("schemaHashOf", () => {
  it("is SHA-256 over names and types", () => {
    expect(schemaHashOf([x, y])).toBe(sha256('[["x","tensor[2,2]"],["y","int"]]'));
  });

  it.each([
    ["a role", [x, { ...y, role: "ignore" as const }], true],
    ["a range", [x, { ...y, minimum: 0 }], true],
    ["a type", [x, { ...y, type: "string" as const }], false],
    ["a shape", [{ ...x, shape: [4] }, y], false],
    ["a name", [x, { ...y, name: "z" }], false],
    ["the order", [y, x], false],
  ])("after a change of %s", (_case, columns, same) => {
    expect(schemaHashOf(columns) === schemaHashOf([x, y])).toBe(same);
  });
});

describe("schemaChanges", () => {
  it.each([
    ["nothing", [x, y], []],
    ["a column less", [y], ["column x (tensor[2,2]) is missing"]],
    ["a column more", [x, y, { name: "z", type: "bool", role: "feature" } as const], ["column z (bool) is new"]],
    ["another type", [x, { ...y, type: "float" } as const], ["column y was int and is float"]],
    ["another order", [y, x], ["the columns' order was x, y and is y, x"]],
  ])("says %s", (_case, after, changes) => {
    expect(schemaChanges([x, y], after)).toEqual(changes);
  });
});

describe("versionDigestOf", () => {
  const empty = { sha256: "00", bytes: 0, rows: 0 };
  const draft = {
    schema: [x, y],
    shards: [{ sha256: "aa", bytes: 1, rows: 1 }],
    split: {
      seed: 1,
      fractions: { train: 1, validation: 0, test: 0 },
      indexes: { train: empty, validation: empty, test: empty },
    },
  };

  it("changes with rows, schema and split, and with nothing else", () => {
    const digest = versionDigestOf(draft);
    expect(versionDigestOf({ ...draft, name: "other", createdAt: "later" } as typeof draft)).toBe(digest);
    expect(versionDigestOf({ ...draft, shards: [{ ...draft.shards[0]!, sha256: "ab" }] })).not.toBe(digest);
    expect(versionDigestOf({ ...draft, schema: [x, { ...y, maximum: 9 }] })).not.toBe(digest);
    expect(versionDigestOf({ ...draft, split: { ...draft.split, seed: 2 } })).not.toBe(digest);
  });
});
