import fc from "fast-check";
import { contractText, inferContract } from "../../../cli/datasets/suggest-contract";
import { findOtherVersions } from "../../../core/datasets/contract/others";
import { assertContractFits, parseDataContract } from "../../../core/datasets/contract/rules";
import type { ColumnProfile } from "../../../core/datasets/profile";
import type { ColumnSchema, DatasetManifest } from "../../../core/datasets/shapes";
import { draftOf } from "../../core/datasets/drafts";
import { rounds } from "../../support/rounds";

describe("an inferred contract", () => {
  const rulesFor = (
    column: Pick<ColumnSchema, "type" | "nullable">,
    profile: Omit<ColumnProfile, "name" | "type">,
  ): string => {
    const schema = { name: "a b", role: "feature", ...column } as const;
    const { contract } = inferContract([schema], [{ name: "a b", type: column.type, ...profile }], 1_000);
    const text = contractText(contract, "made\nof one version");
    // The text is read as the contract that was written.
    expect(parseDataContract(text)).toEqual(contract);
    return text;
  };

  it("blocks what the schema says, and warns of what one version shows, with a margin", () => {
    expect(
      rulesFor({ type: "int" }, { count: 1_000, nulls: 0, distinct: 60, min: 1, max: 123, mean: 50.26, std: 10.03 }),
    ).toBe(`# made of one version
rules:
  - { rule: rowCount, minimum: 500, severity: warn }
  - { rule: type, column: a b, type: int }
  - { rule: notNull, column: a b }
  - { rule: range, column: a b, minimum: 0, maximum: 136, severity: warn }
  - { rule: statistic, column: a b, statistic: mean, minimum: 40.2, maximum: 60.3, severity: warn }
`);
  });

  it("has no bound that the range implies, and none that no value can reach", () => {
    const spend = rulesFor(
      { type: "float" },
      { count: 500, nulls: 500, distinct: 400, min: 0, max: 900, mean: 40, std: 90 },
    );
    expect(spend).toMatch(/range, column: a b, minimum: 0, maximum: 990,.*\n.*mean, maximum: 130, severity: warn }\n$/);
    expect(spend).not.toMatch(/nullShare|-50/);
  });

  it("is valid for any column, and leaves out what has no room", () => {
    const number = fc.double({ noNaN: true, noDefaultInfinity: true });
    const profile = fc.record({
      ...{ count: fc.nat(1_000), nulls: fc.nat(1_000), distinct: fc.nat(20), min: number, max: number },
      ...{ mean: number, std: fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }) },
      top: fc.array(fc.record({ value: fc.string({ maxLength: 3_000, unit: "binary" }), count: fc.nat() }), {
        maxLength: 9,
      }),
    });
    const column = fc.constantFrom<ColumnSchema["type"]>("int", "float", "string", "bool", "timestamp", "tensor");
    const columns = fc.array(fc.tuple(column, profile), { maxLength: 30 });
    fc.assert(
      fc.property(columns, (some) => {
        const named = some.map(([type, rest], index) => ({ type, name: `c${index}`, ...rest }));
        const schema = named.map(({ type, name }) => ({ type, name, role: "feature" }) as const);
        const sorted = named.map((one) => ({
          ...one,
          min: Math.min(one.min, one.max),
          max: Math.max(one.min, one.max),
        }));
        const { contract } = inferContract(schema, sorted, 1_000);
        expect(parseDataContract(contractText(contract, "any"))).toEqual(contract);
      }),
      { numRuns: rounds(25, 1_000) },
    );
    const wide = Array.from({ length: 3_000 }, (_, i) => ({ name: `column-${i}`, type: "float" }) as const);
    const numbers = { count: 1_000, nulls: 0, distinct: 900, min: -5, max: 5, mean: 0, std: 1 };
    const { contract, omitted } = inferContract(
      wide.map((one) => ({ ...one, role: "feature" })),
      wide.map((one) => ({ ...one, ...numbers })),
      1_000,
    );
    expect(() => assertContractFits(contract, "it")).not.toThrow();
    expect([omitted > 0, contract.rules.filter(({ rule }) => rule === "notNull").length]).toEqual([true, 3_000]);
  });

  it.each([
    [
      "a column with missing values",
      { type: "float", nullable: true },
      { count: 900, nulls: 100, min: -2, max: -1, mean: -1.5, std: 0 },
      [/nullShare, maximum: 0.2/, /minimum: -2.1, maximum: -0.9,/],
    ],
    [
      "a set",
      { type: "string" },
      {
        count: 1_000,
        nulls: 0,
        distinct: 2,
        top: [
          { value: "yes", count: 999 },
          { value: "no", count: 1 },
        ],
      },
      [/rule: values, column: a b, values: \[.*yes.*, .*no.*\], severity: warn/],
    ],
    [
      "texts with line ends and control characters",
      { type: "string" },
      {
        count: 1_000,
        nulls: 0,
        distinct: 6,
        top: ["line\nbreak", "a\r\n", " \n b", "\u0007\u007f\u0085\u2028", 'a, "b": {', "null"].map((value) => ({
          value,
          count: 1,
        })),
      },
      [/values: \[ "line\\nbreak", "a\\r\\n", .*\\u007f\\u0085\\u2028"/, /^[ -~\n]*$/],
    ],
    [
      "more values than the profile has",
      { type: "string" },
      { count: 1_000, nulls: 0, distinct: 20, top: [{ value: "yes", count: 999 }] },
      [/notNull, column: a b }\n$/],
    ],
    [
      "an id",
      { type: "int" },
      { count: 1_000, nulls: 0, distinct: 1_000, min: 1, max: 1_000 },
      [/unique, columns: \[/],
    ],
    [
      "a nullable column without missing values",
      { type: "bool", nullable: true },
      { count: 1_000, nulls: 0 },
      [/notNull, column: a b, severity: warn/],
    ],
  ] as const)("fits %s", (_case, column, profile, expected) => {
    for (const pattern of expected) expect(rulesFor(column, profile)).toMatch(pattern);
  });
});

describe("the versions to which rules refer", () => {
  const manifestOf = (name: string, version: number): DatasetManifest => ({
    ...draftOf(name, `${name} ${version}`),
    ...{ version, createdAt: "2026-01-01T00:00:00.000Z" },
  });
  const known = [manifestOf("shop", 1), manifestOf("shop", 2), manifestOf("items", 1), manifestOf("old", 1)];
  const find = async (name: string, version: number) =>
    known.find(({ name: of, version: number }) => of === name && number === version);
  const active = async (name: string) => (name === "old" ? undefined : newest(name));
  const newest = async (name: string) => known.filter((one) => one.name === name).at(-1);
  const { rules } = parseDataContract(`rules:
  - {rule: drift, column: x, baseline: previous, maximum: 1}
  - {rule: drift, column: x, baseline: 7, maximum: 1}
  - {rule: reference, column: x, references: {dataset: items, column: x}}
  - {rule: reference, column: x, references: {dataset: items, version: 4, column: x}}
  - {rule: reference, column: x, references: {dataset: nothing, column: x}}
  - {rule: reference, column: x, references: {dataset: old, column: x}}
`);

  it.each([
    ["a version", 2, 1],
    ["the first version", 1, undefined],
    ["rows that will be the next version", undefined, 2],
  ])("are found for %s", async (_case, version, previous) => {
    const found = await findOtherVersions(
      { rules },
      { name: "shop", version },
      { find, findActive: active, findNewest: newest },
    );
    const shown = [...found.values()].map((one) =>
      typeof one === "string" ? one : "problem" in one ? one.problem : one.version,
    );
    expect(shown).toEqual([
      ...[previous ?? "none", "there is no version shop@7", 1, "there is no version items@4", "none"],
      "old has no version that is not deprecated",
    ]);
  });
});
