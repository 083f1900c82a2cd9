import * as z from "zod";
import { named } from "../feature-plans/plan-columns";
import { consistencyProblems, noWindow } from "../feature-plans/plan-problems";
import { type FeaturePlan, planFile, planStep } from "../feature-plans/shapes";
import type { DeepReadonly } from "../shapes";

const columnName = z.string().min(1).max(255);

export const featureColumns = z
  .array(columnName)
  .min(1)
  .max(10_000)
  .refine((names) => new Set(names).size === names.length, "must name each column once");

const columnEncoding = z.discriminatedUnion("encode", [
  /** A position for each value of the training split. */
  z.strictObject({ encode: z.literal("one-hot") }),
  /** A position for each of the k most frequent values of the training split, and one for all others. */
  z.strictObject({ encode: z.literal("top-k"), k: z.int().min(1).max(1_000).default(100) }),
  /** A position for each bucket of a hash of the text. */
  z.strictObject({ encode: z.literal("hash"), buckets: z.int().min(2).max(65_536).default(256) }),
]);
export type ColumnEncoding = Readonly<z.output<typeof columnEncoding>>;

const settings = z.strictObject({
  standardize: z.boolean().default(true),
  /** Encodings of columns. Default: by the column's type. */
  columns: z.record(columnName, columnEncoding).optional(),
  /**
   * Maximum number of pieces of each number, which are features next to it (docs/datasets.md); 0: none. Default: none,
   * but for an `mlp` whose features are made by the columns' types and standardised.
   */
  pieces: z.int().min(0).max(64).optional(),
  /**
   * A label that is a number is standardised in training by the mean and deviation of the training rows. Default: for an
   * `mlp`.
   */
  standardizeLabel: z.boolean().optional(),
  /**
   * The steps that make the features (docs/features.md), or a plan with its name: a job file names its file, which
   * `ringmaster submit` reads. Default: by the columns' types.
   */
  plan: z.union([z.array(planStep).min(1).max(1_000), planFile]).optional(),
});
export type FeatureSettings = DeepReadonly<z.output<typeof settings>>;

const defaultPieces = 16;

export function withMlpDefaults<Settings extends FeatureSettings>(features: Settings): Settings {
  const { plan, standardize, pieces, standardizeLabel = true } = features;
  const hasNone = plan !== undefined || !standardize || pieces !== undefined;
  return { ...features, ...(hasNone ? {} : { pieces: defaultPieces }), standardizeLabel };
}

/** Maximum length of a plan as JSON. The job is stored in the run's row, which DynamoDB limits to 400 KiB. */
const maxPlanLength = 100_000;

export function planOf({ plan }: Partial<Pick<FeatureSettings, "plan">>): FeaturePlan | undefined {
  if (plan === undefined) return undefined;
  return "steps" in plan
    ? { ...plan, steps: plan.steps.map(named) }
    : { name: "plan", entities: [], steps: plan.map(named) };
}

export const stepsPathOf = ({ plan }: Partial<Pick<FeatureSettings, "plan">>): readonly string[] =>
  plan !== undefined && "steps" in plan ? ["plan", "steps"] : ["plan"];

export const featureSettings = settings.superRefine((features, context) => {
  const { columns, pieces, standardize } = features;
  const plan = planOf(features);
  if (plan === undefined) return;
  const stepsPath = stepsPathOf(features);
  const refuse = (path: readonly PropertyKey[], message: string, input?: unknown): void =>
    context.addIssue({ code: "custom", path: [...path], message, input });
  const leftOut = "must be left out where plan makes the features";
  if (columns !== undefined) refuse(["columns"], leftOut);
  if (pieces !== undefined) refuse(["pieces"], leftOut);
  if (!standardize) refuse(["standardize"], leftOut);
  if (plan.steps.length === 0) refuse(stepsPath, "must have at least one step");
  if (JSON.stringify(features.plan).length > maxPlanLength) {
    const rule = `must have at most ${maxPlanLength} characters as JSON; omit long lists of values, which the fit finds`;
    refuse(["plan"], rule);
  }
  for (const [index, { kind }] of plan.steps.entries()) {
    if (kind === "window") refuse([...stepsPath, index, "kind"], noWindow, kind);
  }
  for (const { path, value, rule } of consistencyProblems(plan)) {
    const isStep = path[0] === "steps";
    // A list has steps alone. The other problems are about the entities and times of windows.
    if (isStep) refuse([...stepsPath, ...path.slice(1)], rule, value);
    else if (stepsPath.length > 1) refuse(["plan", ...path], rule, value);
  }
});
