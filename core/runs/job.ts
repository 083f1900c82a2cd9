import * as z from "zod";
import { category, type DeepReadonly } from "../shapes";
import { containerProblems, containerSpec } from "./container";
import { thresholdRule } from "./decision";
import { earlyStoppingSchema } from "./early-stopping";
import { featureColumns, featureSettings, withMlpDefaults } from "./feature-settings";
import { fineTuneSchema } from "./fine-tune";
import { directionsSchema, jobGatesSchema } from "./gate-rules";
import { hyperparametersSchema as hyperparameters, isNarrow } from "./hyperparameters";
import { resourcesSchema as resources } from "./resources";

const name = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9-]{0,62}$/,
    "must be 1–63 lower-case letters, digits and hyphens, starting with a letter or digit",
  );

/** Maximum length of the options. The job is stored in the run's row, which DynamoDB limits to 400 KiB. */
const maxOptionsLength = 100_000;
const maxTags = 50;

const layerWidths = z.array(z.int().min(1).max(65_536)).max(16);
const activation = z.enum(["relu", "tanh", "sigmoid", "elu", "selu"]);
const dropout = z.number().min(0).lt(1);

export const modelSpec = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("mlp"),
    hidden: layerWidths.default([256, 128]),
    activation: activation.default("relu"),
    dropout: dropout.default(0),
  }),
  z.strictObject({
    type: z.literal("cnn"),
    filters: z.array(z.int().min(1).max(4_096)).min(1).max(8).default([8, 16]),
    kernelSize: z
      .int()
      .min(1)
      .max(15)
      .refine((size) => size % 2 === 1, "must be odd: the kernel is centred on a pixel")
      .default(3),
    hidden: layerWidths.default([64]),
    activation: activation.default("relu"),
    dropout: dropout.default(0),
  }),
  z.strictObject({
    type: z.literal("module"),
    /** Path of a module that exports `defineTraining({…})`. The CLI bundles it and fills in `sha256`. */
    path: z.string().min(1),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, "must be a lower-case hex SHA-256")
      .optional(),
    /** Passed to the module unchanged. */
    options: z
      .record(z.string(), z.unknown())
      .refine((options) => JSON.stringify(options).length <= maxOptionsLength, {
        error: `must have at most ${maxOptionsLength} characters as JSON; put larger data into the module`,
      })
      .default({}),
  }),
  containerSpec,
]);

/** Limits of a run's training. A run that exceeds one is killed, and its checkpoints are kept. */
export const runLimitsSchema = z.strictObject({
  /** Hours of training, over all attempts. */
  hours: z
    .number()
    .positive()
    .max(24 * 365)
    .optional(),
  /** Estimated cost of training in US dollars, over all attempts. */
  dollars: z.number().positive().max(10_000_000).optional(),
});

const evaluation = z.strictObject({
  /** Minimum (accuracy, f1, auc, …) or maximum (logLoss, rmse, …) that the gates accept on the test split. */
  thresholds: z.record(z.string(), z.number()).default({}),
  directions: directionsSchema.optional(),
  /** The class of interest of a label with two. Default: the second. */
  positive: category.optional(),
  /** Default: a row is predicted as the class with the higher probability. */
  threshold: thresholdRule.optional(),
  /** Columns by whose values the evaluation is divided into slices. */
  slices: z.array(z.string().max(255)).max(64).default([]),
  /**
   * Permitted loss in the primary metric against the champion, on the same rows. Default of this and the next two: the
   * model's rule (docs/gates.md). A job may be stricter than its model, and not milder.
   */
  regressionTolerance: z.number().min(0).max(1).optional(),
  /**
   * `credible`: refused if the difference's interval is entirely beyond the tolerance, so that chance alone refuses
   * nothing. `excluded`: passes only if the interval is entirely within it, so that the candidate must show that it is
   * no worse.
   */
  regressionRule: z.enum(["credible", "excluded"]).optional(),
  /** Metric that is also compared with the champion's, next to the model's. Default: only the model's. */
  regressionMetric: z.string().min(1).max(250).optional(),
  /** The result for a candidate whose champion cannot read the new columns. */
  incompatibleChampion: z.enum(["refuse", "pass"]).optional(),
  /** Gates on slices, fairness, latency and size (docs/gates.md). Their columns are added to `slices`. */
  gates: jobGatesSchema.optional(),
});

/**
 * The job file's schema. Every default is written into the run's record, so that a run can be read without the code
 * that created it.
 */
export const jobSchema = z
  .strictObject({
    experiment: name,
    /** Name of the run in lists, pages and MLflow. Default: its id. */
    name: z.string().min(1).max(250).optional(),
    /** `name`, `name@3` or `name@latest`. */
    dataset: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,62}(@([1-9]\d*|latest))?$/, "must be NAME, NAME@VERSION or NAME@latest"),
    /** Registered model of which the run makes a version. Default: the run makes none (`models register` does it later). */
    registerAs: name.optional(),
    model: modelSpec,
    fineTune: fineTuneSchema.optional(),
    hyperparameters: hyperparameters.prefault({}),
    features: featureSettings.prefault({}),
    /** The feature columns that the run uses. Default: all of the dataset. */
    columns: featureColumns.optional(),
    /** The feature columns that the run does not use. */
    drop: featureColumns.optional(),
    resources: resources.prefault({}),
    checkpoint: z
      .strictObject({
        everySteps: z.int().min(1).default(100),
        keep: z.int().min(1).max(100).default(3),
      })
      .prefault({}),
    earlyStopping: earlyStoppingSchema.optional(),
    evaluation: evaluation.prefault({}),
    seed: z.int().min(0).max(4_294_967_295).default(0),
    /** Number of further attempts after a failure that is not a spot loss. */
    retries: z.int().min(0).max(10).default(1),
    /** Default: those of the team, if the deployment sets any. */
    limits: runLimitsSchema.optional(),
    tags: z
      .record(z.string().max(128), z.string().max(1_000))
      .refine((tags) => Object.keys(tags).length <= maxTags, { error: `must be at most ${maxTags} tags` })
      .default({}),
    notes: z.string().max(10_000).optional(),
  })
  .refine(({ columns, drop }) => columns === undefined || drop === undefined, {
    path: ["drop"],
    when: whenValid({}),
    error: "must be left out where columns names the features: a column that it does not name is not used",
  })
  .refine(
    ({ features: { plan }, columns, drop }) => plan === undefined || (columns === undefined && drop === undefined),
    {
      path: ["features"],
      when: whenValid({ features: featureSettings.optional() }),
      error: "must have no plan where columns or drop chooses columns: a plan names the columns that it uses",
    },
  )
  .refine(({ resources: { workers, microBatches } }) => workers <= microBatches, {
    path: ["resources", "workers"],
    when: whenValid({ resources: resources.optional() }),
    error: ({ input }) =>
      `must be at most resources.microBatches (${microBatchesOf(input)}), because a worker computes whole micro-batches: set fewer workers or more micro-batches`,
  })
  .refine(({ resources: { workers, minWorkers } }) => minWorkers <= workers, {
    path: ["resources", "minWorkers"],
    when: whenValid({ resources: resources.optional() }),
    error: "must be at most resources.workers",
  })
  .refine(({ hyperparameters: { batchSize }, resources: { microBatches } }) => batchSize % microBatches === 0, {
    path: ["hyperparameters", "batchSize"],
    when: whenValid({ resources: resources.optional(), hyperparameters: hyperparameters.optional() }),
    error: ({ input }) =>
      `must be a multiple of resources.microBatches (${microBatchesOf(input)}), because all micro-batches have one shape`,
  })
  .refine(
    ({ hyperparameters: { gradientFormat }, resources: { shardOptimizer } }) =>
      gradientFormat === "float32" || !shardOptimizer,
    {
      path: ["hyperparameters", "gradientFormat"],
      when: whenValid({ resources: resources.optional(), hyperparameters: hyperparameters.optional() }),
      error: "must be float32 where resources.shardOptimizer is true: a sharded optimizer sums in float32",
    },
  )
  .refine(
    ({ hyperparameters: { precision }, resources: { shardOptimizer } }) => precision !== "float16" || !shardOptimizer,
    {
      path: ["hyperparameters", "precision"],
      when: whenValid({ resources: resources.optional(), hyperparameters: hyperparameters.optional() }),
      error:
        "must not be float16 where resources.shardOptimizer is true: a sharded optimizer has no loss scale. Use bfloat16",
    },
  )
  .refine(
    ({ hyperparameters: { precision = "float32" }, resources: { backend } }) =>
      !isNarrow(precision) || backend !== "wasm",
    {
      path: ["hyperparameters", "precision"],
      when: whenValid({ resources: resources.optional(), hyperparameters: hyperparameters.optional() }),
      error: "must be float32 or tf32 where resources.backend is wasm: 16 bits need the native backend",
    },
  )
  .refine(
    ({ hyperparameters: { precision }, resources: { tf32 } }) => tf32 !== true || (precision ?? "tf32") === "tf32",
    {
      path: ["hyperparameters", "precision"],
      when: whenValid({ resources: resources.optional(), hyperparameters: hyperparameters.optional() }),
      error: "must be tf32 or left out where resources.tf32 is true: that is an earlier name of precision tf32",
    },
  )
  .refine(({ resources: { gpusPerWorker, backend } }) => gpusPerWorker === 0 || backend !== "wasm", {
    path: ["resources", "backend"],
    when: whenValid({ resources: resources.optional() }),
    error: "must be native or auto where resources.gpusPerWorker is above 0",
  })
  .check(({ value, issues }) => {
    for (const { path, value: input, rule } of containerProblems(value))
      issues.push({ code: "custom", path: path.split("."), input, message: rule });
  })
  .overwrite((job) => (job.model.type === "mlp" ? { ...job, features: withMlpDefaults(job.features) } : job));

/** Returns the input of rules across sections, with defaults filled in. */
function microBatchesOf(input: unknown): number {
  return z.looseObject({ resources: resources.prefault({}) }).parse(input).resources.microBatches;
}

/** Runs such a rule whenever its own sections are valid, even if others are not, so that a person sees all problems. */
function whenValid(sections: z.ZodRawShape) {
  const schema = z.looseObject(sections);
  return (payload: { readonly value: unknown }): boolean => schema.safeParse(payload.value).success;
}

export type Job = DeepReadonly<z.output<typeof jobSchema>>;
export type JobInput = z.input<typeof jobSchema>;
export type ModelSpec = Job["model"];
export type RunLimits = NonNullable<Job["limits"]>;
