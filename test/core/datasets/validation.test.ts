import { alikeTexts } from "../../../core/datasets/alike-values";
import type { ColumnProfile, DatasetProfile } from "../../../core/datasets/profile";
import type { ColumnSchema } from "../../../core/datasets/shapes";
import { judge } from "../../../core/datasets/validation";
import { draftOf } from "./drafts";

const schema: readonly ColumnSchema[] = [
  { name: "x", type: "float", role: "feature" },
  { name: "y", type: "int", role: "label" },
];
const { split } = draftOf("d", "rows");
const healthy: DatasetProfile = {
  dataset: { name: "d", version: 1, digest: "00" },
  rowCount: 1_000,
  exact: true,
  columns: [
    { name: "x", type: "float", count: 1_000, nulls: 0, distinct: 9 },
    { name: "y", type: "int", count: 1_000, nulls: 0, distinct: 2 },
  ],
  classes: [0, 1].map((value) => ({ value, rows: { train: 400, validation: 50, test: 50 } })),
  duplicateShare: 0,
  leakedShare: 0,
};
const x = (change: Partial<ColumnProfile>): readonly ColumnProfile[] => [{ ...healthy.columns[0]!, ...change }];

describe("judge", () => {
  it("has nothing to say about a healthy version", () => {
    expect(judge({ schema, split }, healthy)).toEqual({ errors: [], warnings: [] });
  });

  it("warns of a string column with more values than a one-hot takes", () => {
    const columns = x({ type: "string", distinct: 1_001 });
    const strings = [{ ...schema[0]!, type: "string" as const }, schema[1]!];
    expect(judge({ schema: strings, split }, { ...healthy, columns }).warnings).toMatchObject([
      { code: "MANY_VALUES" },
    ]);
  });

  it("warns of texts of which most are different, and names the step that reads them", () => {
    const strings = [{ ...schema[0]!, type: "string" as const }, schema[1]!];
    const profile = (value: string) => ({
      ...healthy,
      columns: x({ type: "string", distinct: 900, top: [{ value, count: 2 }] }),
    });
    expect(judge({ schema: strings, split }, profile("a good film")).warnings).toMatchObject([
      { code: "DIFFERENT_TEXTS", message: expect.stringContaining('{ kind: ngrams, column: "x", buckets: 512 }') },
    ]);
    expect(judge({ schema: strings, split }, profile("我非常喜欢这部电影因为它很好")).warnings).toHaveLength(1);
    expect(judge({ schema: strings, split }, profile("customer-17")).warnings).toEqual([]);
  });

  it.each([
    [
      ["Yes", "yes ", "No/", "No", "NO"],
      [
        ["Yes", "yes "],
        ["No", "No/", "NO"],
      ],
    ],
    [["New York", "new  york", "NewYork"], [["New York", "new  york", "NewYork"]]],
    [["Ja\u00a0", "ja!", "nein"], [["Ja\u00a0", "ja!"]]],
    [["Yes", "yes*", "(yes)", "Yes …"], [["Yes", "yes*", "Yes …"]]],
    [["Y", "y.", "N"], [["Y", "y."]]],
    [["A", "A+", "A-", "A*", "AA", "AA+", "C", "C#", "C++", "?", "!", "a1"], []],
  ])("finds the texts of %j that differ only by case, blanks or a mark at the end", (texts, groups) => {
    const found = alikeTexts(texts.map((value) => ({ value, count: 1 })));
    const sorted = (lists: readonly (readonly string[])[]) => lists.map((list) => [...list].sort()).sort();
    expect(sorted(found.map((group) => group.map(({ value }) => value)))).toEqual(sorted(groups));
  });

  it.each([
    ["label", "label x has values", "each is a class of its own"],
    ["feature", "column x has values", "each is a category of its own"],
    ["slice", "column x has values", "each is a category of its own"],
  ] as const)("warns with counts of such texts of a %s", (role, what, part) => {
    const alike = [["Yes", "yes "].map((value, i) => ({ value, count: 480 - 479 * i }))];
    const [warning, ...others] = judge(
      { schema: [{ name: "x", type: "string", role }], split },
      { ...healthy, columns: x({ type: "string", distinct: 3, alike }) },
    ).warnings;
    expect([warning!.code, others]).toEqual(["ALIKE_VALUES", []]);
    for (const text of [what, part, '"Yes" (480 rows), "yes " (1 row). Write them alike'])
      expect(warning!.message).toContain(text);
  });

  it("refuses a split with one class", () => {
    const classes = [
      { value: 0, rows: { train: 400, validation: 50, test: 50 } },
      { value: 1, rows: { train: 400, validation: 50, test: 0 } },
    ];
    expect(judge({ schema, split }, { ...healthy, classes }).errors).toEqual([
      "label y has only the class 0 in split test, but at least 2 are needed",
    ]);
  });

  it("asks nothing of a split that was to be empty, and refuses one that was not", () => {
    const empty = { ...split.indexes.validation, rows: 0, bytes: 0 };
    const emptied = { ...split, indexes: { ...split.indexes, validation: empty } };
    const classes = [0, 1].map((value) => ({ value, rows: { train: 400, validation: 0, test: 50 } }));
    const meant = { ...emptied, fractions: { train: 0.9, validation: 0, test: 0.1 } };
    expect(judge({ schema, split: meant }, { ...healthy, classes }).errors).toEqual([]);
    expect(judge({ schema, split: emptied }, { ...healthy, classes }).errors).toEqual(["split validation has no rows"]);
  });

  it("refuses a real-valued label that is constant", () => {
    const columns: readonly ColumnProfile[] = [
      { name: "y", type: "float", count: 9, nulls: 0, min: 3, max: 3, std: 0 },
    ];
    const { classes, ...rest } = healthy;
    expect(classes).toBeDefined();
    expect(
      judge({ schema: [schema[0]!, { ...schema[1]!, type: "float" }], split }, { ...rest, columns }).errors,
    ).toEqual(["label y is 3 in every row, so a model cannot be trained"]);
  });

  const more = (value: number, train: number, validation: number, test: number) => ({
    classes: [...healthy.classes!, { value, rows: { train, validation, test } }],
  });
  const rare = Array.from({ length: 7 }, (_, value) => ({ value, rows: { train: 80, validation: 9, test: 10 } }));
  const unseen = "class 2 without a row in the training split: the model cannot predict it";
  const untested = "class 2 with at most 5 rows without a row in the test split: its metrics do not cover it";
  const few = "classes 0, 1, 2, 3, 4, … (7) with fewer than 0.1 % of the rows";
  it.each([
    ["a constant column", { columns: x({ distinct: 1 }) }, "CONSTANT_COLUMN", "x has the same value in every row"],
    ["an empty column", { columns: x({ count: 0, nulls: 1_000 }) }, "EMPTY_COLUMN", "column x has no value in any row"],
    ["missing values", { columns: x({ count: 400, nulls: 600 }) }, "MISSING_VALUES", "no value in 60.0 % of the rows"],
    ["duplicates", { duplicateShare: 0.02 }, "DUPLICATE_ROWS", "2.0 % of the rows repeat another row"],
    ["leaks", { leakedShare: 0.3 }, "LEAKED_TEST_ROWS", "30.0 % of the test rows are also in the training split"],
    ["a class outside training", more(2, 0, 1, 9), "UNSEEN_CLASSES", unseen],
    ["a class outside the test split", more(2, 4, 1, 0), "CLASSES_NOT_IN_TEST", untested],
    ["rare classes, all in one line", { rowCount: 100_000, classes: rare }, "RARE_CLASSES", few],
  ] as const)("warns of %s", (_case, change, code, message) => {
    expect(judge({ schema, split }, { ...healthy, ...change })).toEqual({
      errors: [],
      warnings: [{ code, message: expect.stringContaining(message) }],
    });
  });
});
