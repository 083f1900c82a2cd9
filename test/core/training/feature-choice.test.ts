import type { DatasetManifest } from "../../../core/datasets/shapes";
import { jobSchema } from "../../../core/runs/job";
import { checkJobAgainst } from "../../../core/training/job-checks";
import { draftOf } from "../datasets/drafts";

const draft = draftOf("shop", "rows", [
  { name: "price", type: "float", role: "feature" },
  { name: "city", type: "string", role: "feature" },
  { name: "y", type: "int", role: "label" },
]);
const manifest = { ...draft, version: 3 } as unknown as DatasetManifest;
const job = (choice: object) =>
  jobSchema.parse({
    ...{ experiment: "e", dataset: "shop", model: { type: "mlp" }, resources: { microBatches: 1 } },
    ...choice,
  });

describe("a job's choice of features", () => {
  const plan = (...steps: readonly object[]) => ({ features: { plan: steps } });
  const log = (column: string, more: object = {}) => ({ kind: "log", column, ...more });
  const target = (of: string) => ({ kind: "target", column: "city", target: of, foldBy: "price" });
  const problem = (path: string, rule: string, more: object = {}) => ({
    path,
    rule: expect.stringMatching(rule),
    ...more,
  });
  const empty = problem("features.plan", "must have a step that makes a feature");
  it.each<[object, object[]]>([
    [{ columns: ["price", "town"] }, [{ path: "columns.1", value: "town" }]],
    [{ features: { columns: { town: { encode: "hash" } } } }, [{ path: "features.columns.town", value: "hash" }]],
    [{ columns: ["city"], features: { columns: { city: { encode: "top-k" } } } }, []],
    [
      plan(log("city"), log("town")),
      [
        problem("features.plan[0] (city_log)", "^must be number or bool, but is text$", { value: "city" }),
        problem("features.plan[1] (town_log)", "price, city, y", { value: "town" }),
      ],
    ],
    [plan({ kind: "number", column: "y" }), [problem("features.plan", "has the role label", { value: "y" })]],
    [plan(target("price")), [problem("features.plan[0].target", "^must be the label, y$", { value: "price" })]],
    [plan(log("price", { name: "city" })), [problem("features.plan[0].name", "of the dataset", { value: "city" })]],
    [plan(target("y")), []],
    [plan(log("price", { output: false })), [empty]],
    [plan({ kind: "cross", columns: ["city", "price"] }), [empty]],
  ])("is checked at submission: %j", (choice, problems) => {
    expect(checkJobAgainst(manifest, job(choice))).toMatchObject(problems);
  });

  it("leaves a job without one as it was, so that its run is found again", () => {
    expect(job({})).not.toHaveProperty("columns");
    const features = { standardize: true, pieces: 0, standardizeLabel: false };
    expect(job({ features }).features).toEqual(features);
  });

  const asTheyAre = { standardize: false, standardizeLabel: true };
  const chosen = { pieces: 5, standardizeLabel: false };
  it.each([
    ["an mlp", {}, { standardize: true, pieces: 16, standardizeLabel: true }],
    ["an mlp that chooses", { features: chosen }, { standardize: true, ...chosen }],
    ["an mlp of numbers as they are", { features: { standardize: false } }, asTheyAre],
    ["a cnn", { model: { type: "cnn" } }, { standardize: true }],
    ["a module", { model: { type: "module", path: "m.ts" } }, { standardize: true }],
  ])("records pieces of numbers and the standardised label of %s", (_model, choice, features) => {
    expect(job(choice).features).toEqual(features);
  });

  it("leaves an mlp with a plan without pieces", () => {
    const numbers = [{ kind: "number", column: "price" }];
    expect(job(plan(...numbers)).features).not.toHaveProperty("pieces");
    expect(() => job({ features: { plan: numbers, pieces: 4 } })).toThrow(
      /must be left out where plan makes the features/,
    );
  });

  it("standardises the label of a module that requests it", () => {
    const module = { model: { type: "module", path: "m.ts" } };
    expect(job(module).features).toEqual({ standardize: true });
    expect(job({ ...module, features: { standardizeLabel: true } }).features.standardizeLabel).toBe(true);
  });

  const hash = { kind: "hash", column: "city", buckets: 9 };
  it.each([
    [{ columns: ["city"], drop: ["price"] }, /must be left out where columns names the features/],
    [{ columns: ["city", "city"] }, /must name each column once/],
    [{ columns: ["city"], features: { plan: [hash] } }, /must have no plan/],
    [{ features: { plan: [], columns: { city: { encode: "hash" } } } }, /too_small/],
    [{ features: { plan: [hash], columns: { city: { encode: "hash" } } } }, /must be left out where plan makes the/],
    [{ features: { plan: [{ kind: "bucketize", column: "price" }] } }, /or quantiles is required/],
  ])("is refused: %j", (choice, message) => expect(() => job(choice)).toThrow(message));
});
