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
  it.each([
    [{ columns: ["price", "town"] }, [{ path: "columns.1", value: "town" }]],
    [{ drop: ["y"] }, [{ path: "drop.0", value: "y" }]],
    [{ features: { columns: { town: { encode: "hash" } } } }, [{ path: "features.columns.town", value: "hash" }]],
    [{ columns: ["city"], features: { columns: { city: { encode: "top-k" } } } }, []],
    [
      {
        features: {
          plan: [
            { kind: "log", column: "city" },
            { kind: "log", column: "town" },
          ],
        },
      },
      [
        { path: "features.plan[0] (city_log)", value: "city", rule: "must be number or bool, but is text" },
        { path: "features.plan[1] (town_log)", value: "town", rule: expect.stringContaining("price, city, y") },
      ],
    ],
    [
      { features: { plan: [{ kind: "number", column: "y" }] } },
      [{ path: "features.plan", value: "y", rule: expect.stringContaining("has the role label") }],
    ],
    [
      { features: { plan: [{ kind: "target", column: "city", target: "price", foldBy: "price" }] } },
      [{ path: "features.plan[0].target", value: "price", rule: "must be the label, y" }],
    ],
    [
      { features: { plan: [{ kind: "log", column: "price", name: "city" }] } },
      [
        {
          path: "features.plan[0].name",
          value: "city",
          rule: expect.stringContaining("names of the dataset's columns"),
        },
      ],
    ],
    [{ features: { plan: [{ kind: "target", column: "city", target: "y", foldBy: "price" }] } }, []],
    ...[
      { kind: "log", column: "price", output: false },
      { kind: "cross", columns: ["city", "price"] },
    ].map((step): [object, object[]] => [
      { features: { plan: [step] } },
      [{ path: "features.plan", rule: expect.stringContaining("must have a step that makes a feature") }],
    ]),
  ])("is checked at submission: %j", (choice, problems) => {
    expect(checkJobAgainst(manifest, job(choice))).toMatchObject(problems);
  });

  it("leaves a job without one as it was, so that its run is found again", () => {
    expect(job({})).not.toHaveProperty("columns");
    const features = { standardize: true, pieces: 0, standardizeLabel: false };
    expect(job({ features }).features).toEqual(features);
  });

  it.each([
    ["an mlp", {}, { standardize: true, pieces: 16, standardizeLabel: true }],
    [
      "an mlp that chooses",
      { features: { pieces: 5, standardizeLabel: false } },
      { standardize: true, pieces: 5, standardizeLabel: false },
    ],
    [
      "an mlp of numbers as they are",
      { features: { standardize: false } },
      { standardize: false, standardizeLabel: true },
    ],
    ["a cnn", { model: { type: "cnn" } }, { standardize: true }],
    ["a module", { model: { type: "module", path: "m.ts" } }, { standardize: true }],
  ])("records pieces of numbers and the standardised label of %s", (_model, choice, features) => {
    expect(job(choice).features).toEqual(features);
  });

  it("leaves an mlp with a plan without pieces", () => {
    const plan = [{ kind: "number", column: "price" }];
    expect(job({ features: { plan } }).features).not.toHaveProperty("pieces");
    expect(() => job({ features: { plan, pieces: 4 } })).toThrow(/must be left out where plan makes the features/);
  });

  it("standardises the label of a module that requests it", () => {
    const module = { model: { type: "module", path: "m.ts" } };
    expect(job(module).features).toEqual({ standardize: true });
    expect(job({ ...module, features: { standardizeLabel: true } }).features.standardizeLabel).toBe(true);
  });

  it.each([
    [{ columns: ["city"], drop: ["price"] }, /must be left out where columns names the features/],
    [{ columns: ["city", "city"] }, /must name each column once/],
    [{ columns: [] }, /too_small/],
    [{ columns: ["city"], features: { plan: [{ kind: "hash", column: "city", buckets: 9 }] } }, /must have no plan/],
    [{ features: { plan: [], columns: { city: { encode: "hash" } } } }, /too_small/],
    [
      { features: { plan: [{ kind: "hash", column: "city", buckets: 9 }], columns: { city: { encode: "hash" } } } },
      /must be left out where plan makes the features/,
    ],
    [{ features: { plan: [{ kind: "bucketize", column: "price" }] } }, /or quantiles is required/],
    [{ features: { columns: { city: { encode: "top-k", k: 0 } } } }, /too_small/],
    [{ features: { columns: { city: { encode: "embed" } } } }, /invalid_union/],
  ])("is refused: %j", (choice, message) => expect(() => job(choice)).toThrow(message));
});
