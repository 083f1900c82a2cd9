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
    ...{ experiment: "e", dataset: "shop", model: { type: "mlp" }, resources: { microshards: 1 } },
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
      {
        features: {
          view: {
            ...{ name: "v", entities: ["city"], eventTime: "price" },
            steps: [{ kind: "window", column: "price", aggregate: "sum", over: "1d" }],
          },
        },
      },
      [{ path: "features.view.steps[0].kind", value: "window", rule: expect.stringContaining("must not be a window") }],
    ],
    [{ features: { plan: [{ kind: "target", column: "city", target: "y", foldBy: "price" }] } }, []],
  ])("is checked at submission: %j", (choice, problems) => {
    expect(checkJobAgainst(manifest, job(choice))).toMatchObject(problems);
  });

  it("leaves a job without one as it was, so that its run is found again", () => {
    expect(job({})).not.toHaveProperty("columns");
    expect(job({}).features).toEqual({ standardize: true });
  });

  it.each([
    [{ columns: ["city"], drop: ["price"] }, /must be left out where columns names the features/],
    [{ columns: ["city", "city"] }, /must name each column once/],
    [{ columns: [] }, /too_small/],
    [
      { columns: ["city"], features: { plan: [{ kind: "hash", column: "city", buckets: 9 }] } },
      /must have no plan or view/,
    ],
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
