import * as z from "zod";
import { named } from "../feature-plans/plan-columns";
import { consistencyProblems, noWindow } from "../feature-plans/plan-problems";
import { planFile, planStep } from "../feature-plans/shapes";
import type { DeepReadonly } from "../shapes";

const columnName = z.string().min(1).max(255);

/** Names of feature columns. */
export const featureColumns = z
  .array(columnName)
  .min(1)
  .max(10_000)
  .refine((names) => new Set(names).size === names.length, "must name each column once");

/** The encoding of a string or int column as features. */
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
  /** The steps that make the features (docs/features.md). Default: by the columns' types. */
  plan: z.array(planStep).min(1).max(1_000).optional(),
  /** A plan with its name. A job file names its file, and `ringmaster submit` reads it. */
  view: planFile.optional(),
});
export type FeatureSettings = DeepReadonly<z.output<typeof settings>>;

const defaultPieces = 16;

/** Returns the features of a job with an `mlp`. */
export function withMlpDefaults<Settings extends FeatureSettings>(features: Settings): Settings {
  const { plan, view, standardize, pieces, standardizeLabel = true } = features;
  const hasNone = plan !== undefined || view !== undefined || !standardize || pieces !== undefined;
  return { ...features, ...(hasNone ? {} : { pieces: defaultPieces }), standardizeLabel };
}

/** Maximum length of a plan as JSON. The job is stored in the run's row, which DynamoDB limits to 400 KiB. */
const maxPlanLength = 100_000;

export const featureSettings = settings.superRefine(({ plan, view, columns, pieces, standardize }, context) => {
  const at = plan === undefined ? "view" : "plan";
  const refuse = (path: readonly (string | number)[], message: string, input?: unknown): void =>
    context.addIssue({ code: "custom", path: [...path], message, input });
  if (plan === undefined && view === undefined) return;
  if (plan !== undefined && view !== undefined) refuse(["view"], "must be left out where plan has the steps");
  if (columns !== undefined) refuse(["columns"], `must be left out where ${at} makes the features`);
  if (pieces !== undefined) refuse(["pieces"], `must be left out where ${at} makes the features`);
  if (!standardize) refuse(["standardize"], `must be left out where ${at} makes the features`);
  if (view?.steps.length === 0) refuse(["view", "steps"], "must have at least one step");
  if (JSON.stringify(plan ?? view).length > maxPlanLength) {
    refuse(
      [at],
      `must have at most ${maxPlanLength} characters as JSON; omit long lists of values, which the fit finds`,
    );
  }
  const steps = (plan ?? view?.steps ?? []).map(named);
  const stepsPath = plan === undefined ? ["view", "steps"] : ["plan"];
  for (const [index, { kind }] of steps.entries()) {
    if (kind === "window") refuse([...stepsPath, index, "kind"], noWindow, kind);
  }
  for (const { path, value, rule } of consistencyProblems({ name: "plan", entities: [], ...view, steps })) {
    if (plan === undefined) refuse(["view", ...path], rule, value);
    // The others are about the entities and times of windows.
    else if (path[0] === "steps") refuse(["plan", ...path.slice(1)], rule, value);
  }
});
