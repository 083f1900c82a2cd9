import fc from "fast-check";
import { canonicalRow } from "../../../core/feature-plans/compile";
import { fitPlan } from "../../../core/feature-plans/fit";
import type { FittedPlan } from "../../../core/feature-plans/shapes";
import { mergeStates } from "../../../core/feature-plans/statistics";
import { rounds, seedOf } from "../../support/rounds";
import {
  agree,
  applyRows,
  applyTable,
  type Features,
  fitRows,
  measureRows,
  planOf,
  useDuckDb,
  writeTable,
} from "./engines";
import { columns, extreme, moderate, plans, rowOf, view } from "./random-plans";

function expectAgreement(a: Features, b: Features): void {
  const same =
    a.length === b.length && a.every((row, i) => Object.keys(row).every((key) => agree(row[key], b[i]![key])));
  if (!same) expect(b).toEqual(a);
}

describe("a plan", () => {
  const session = useDuckDb();

  it("gives the same features in DuckDB's SQL and in the function of a row, also of rows that it was not fitted on", async () => {
    const property = fc.asyncProperty(
      plans,
      fc.array(rowOf(extreme), { minLength: 1, maxLength: 12 }),
      fc.array(rowOf(extreme), { minLength: 1, maxLength: 12 }),
      fc.boolean(),
      async (steps, training, others, outOfFold) => {
        const plan = await fitRows(planOf(steps, view), columns, training);
        const rows = [...training, ...others];
        await writeTable(session(), "t", columns, rows);
        expectAgreement(applyRows(plan, rows, outOfFold), await applyTable(session(), plan, "t", outOfFold));
      },
    );
    await fc.assert(property, { numRuns: rounds(20, 500), seed: seedOf(18) });
  });

  it("is fitted by parts as at once", async () => {
    const property = fc.asyncProperty(
      plans,
      fc.array(rowOf(moderate), { maxLength: 30 }),
      fc.array(fc.nat({ max: 30 }), { maxLength: 3 }),
      async (steps, rows, cuts) => {
        const withoutWindows = planOf(steps.filter((step) => (step as { kind: string }).kind !== "window"));
        const canonical = rows.map((row) => canonicalRow(row, columns));
        const ends = [...cuts, rows.length].sort((a, b) => a - b);
        const parts = ends.map((end, i) => canonical.slice(ends[i - 1] ?? 0, end));
        const merged = await fitPlan(withoutWindows, columns, rows.length, async (statistics) =>
          parts
            .map((part) => measureRows(statistics, part))
            .reduce((a, b) => a.map((state, i) => mergeStates(state, b[i]!))),
        );
        expectSameFit(await fitRows(withoutWindows, columns, rows), merged);
      },
    );
    await fc.assert(property, { numRuns: rounds(20, 500), seed: seedOf(18) });
  });
});

/** Compares all numbers of the fitted values to 1e-9, and the rest exactly. */
function expectSameFit(a: FittedPlan, b: FittedPlan): void {
  const flat = (value: unknown): readonly unknown[] =>
    typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([key, each]) => [key, ...flat(each)])
      : [value];
  const [left, right] = [flat(a.fitted), flat(b.fitted)];
  const same = left.length === right.length && left.every((value, i) => agree(value, right[i]));
  if (!same) expect(b.fitted).toEqual(a.fitted);
}
