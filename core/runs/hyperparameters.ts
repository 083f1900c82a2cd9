import * as z from "zod";
import { isObject } from "../json-text";
import type { DeepReadonly } from "../shapes";

const optimizer = z.enum(["sgd", "momentum", "adam", "adamw"]);
const schedule = z.enum(["constant", "cosine", "step"]);
const precision = z.enum(["float32", "tf32", "bfloat16", "float16"]);

const classWeights = z.union(
  [
    z.literal("balanced"),
    z.record(z.string().max(255), z.number().gt(0).max(1_000_000)).refine(
      (weights) => {
        const classes = Object.keys(weights).length;
        return classes > 0 && classes <= 1_000;
      },
      { error: "must have 1 to 1,000 classes; leave it out for a weight of 1 everywhere" },
    ),
  ],
  { error: "must be balanced, or a mapping of classes to weights, e.g. { fraud: 5 }" },
);

/** Number format of the factors and results of matrix products and convolutions in gradients (docs/jobs.md). */
export type Precision = z.output<typeof precision>;
export type NarrowPrecision = Extract<Precision, "bfloat16" | "float16">;

export const isNarrow = (value: Precision): value is NarrowPrecision => value === "bfloat16" || value === "float16";

export const recordedHyperparameters = z.strictObject({
  optimizer: optimizer.default("adam"),
  learningRate: z.number().gt(0).max(10).default(0.001),
  /** μ for `momentum`. */
  momentum: z.number().min(0).lt(1).default(0.9),
  /** Nesterov's look-ahead for `momentum`. Default false. */
  nesterov: z.boolean().optional(),
  /** Decay of the mean of gradients, for `adam` and `adamw`. Default 0.9. */
  beta1: z.number().min(0).lt(1).optional(),
  /** Decay of the mean of squared gradients, for `adam` and `adamw`. Default 0.999. */
  beta2: z.number().min(0).lt(1).optional(),
  /** Term added to the root, for `adam` and `adamw`; float32 has hardly any precision below 1e-30. Default 1e-8. */
  epsilon: z.number().min(1e-30).max(1).optional(),
  /** An L2 penalty with `sgd`, `momentum` and `adam`; decoupled with `adamw`. */
  weightDecay: z.number().min(0).max(1).default(0),
  schedule: schedule.default("constant"),
  /** Learning rate at the end of `cosine`. Default 0. */
  minLearningRate: z.number().min(0).max(10).optional(),
  /** Optimizer steps between two decays of `step`. */
  stepSize: z.int().min(1).max(1_000_000_000).optional(),
  /** Factor of each decay of `step`. Default 0.1. */
  gamma: z.number().gt(0).lt(1).optional(),
  warmupSteps: z.int().min(0).max(1_000_000).default(0),
  /**
   * Format in which gradients are rounded, added and sent. 16 bits halve the bytes and change the weights
   * (docs/adr/007-micro-batches.md).
   */
  gradientFormat: z.enum(["float32", "bfloat16", "float16"]).default("float32"),
  /**
   * Number format in which matrix products and convolutions compute gradients. Weights, sums and the optimizer are
   * float32. Default float32.
   */
  precision: precision.optional(),
  /**
   * Factor of a row's loss in training, by the row's class. A class without an entry has 1. `balanced`: rows / (classes ×
   * rows of the class), over the training split. Default: none.
   */
  classWeights: classWeights.optional(),
  /** Global-norm clipping; 0 turns it off. */
  clipNorm: z.number().min(0).default(0),
  batchSize: z.int().min(1).max(65_536).default(128),
  epochs: z.int().min(1).max(10_000).default(5),
});

/** A run's hyperparameters, without the options that have no effect. */
export type Hyperparameters = DeepReadonly<z.output<typeof recordedHyperparameters>>;

interface Option {
  readonly field: keyof Hyperparameters;
  /** The hyperparameter that decides whether the option has an effect, and the values for which it has. */
  readonly of: "optimizer" | "schedule";
  readonly values: readonly string[];
  /** Absent if the option is required. */
  readonly default?: number | boolean;
  /** Every record has the option, at least with its default, which is therefore accepted where it has no effect. */
  readonly always?: true;
}

const adams = ["adam", "adamw"];
const options: readonly Option[] = [
  { field: "momentum", of: "optimizer", values: ["momentum"], default: 0.9, always: true },
  { field: "nesterov", of: "optimizer", values: ["momentum"], default: false },
  { field: "beta1", of: "optimizer", values: adams, default: 0.9 },
  { field: "beta2", of: "optimizer", values: adams, default: 0.999 },
  { field: "epsilon", of: "optimizer", values: adams, default: 1e-8 },
  { field: "minLearningRate", of: "schedule", values: ["cosine"], default: 0 },
  { field: "stepSize", of: "schedule", values: ["step"] },
  { field: "gamma", of: "schedule", values: ["step"], default: 0.1 },
];

/** Refuses an option without effect, even if another field is invalid, so that a person sees all problems at once. */
const optionProblems = z.check<z.output<typeof recordedHyperparameters>>(({ value, issues }) => {
  const refuse = (field: keyof Hyperparameters, message: string): void => {
    issues.push({ code: "custom", path: [field], input: value[field], message });
  };
  for (const { field, of, values, default: standard, always } of options) {
    if (!recordedHyperparameters.shape[of].safeParse(value[of]).success) continue;
    const applies = values.includes(value[of]);
    if (!applies && value[field] !== undefined && !(always && value[field] === standard)) {
      refuse(
        field,
        `must be left out where ${of} is ${value[of]}: it has an effect only with ${of} ${values.join(" and ")}`,
      );
    }
    if (applies && value[field] === undefined && standard === undefined) {
      refuse(field, `is required where ${of} is ${value[of]}: the number of optimizer steps between two decays`);
    }
  }
  if (value.nesterov === true && value.optimizer === "momentum" && value.momentum === 0) {
    refuse("nesterov", "must be false where momentum is 0: Nesterov momentum needs momentum");
  }
  if (value.schedule === "cosine" && (value.minLearningRate ?? 0) >= value.learningRate) {
    refuse("minLearningRate", `must be less than learningRate (${value.learningRate})`);
  }
});
optionProblems._zod.def.when = ({ value }) => isObject(value);

/** An option with an effect is recorded, with its default if it was omitted. */
export const hyperparametersSchema = recordedHyperparameters.check(optionProblems).overwrite((value) => ({
  ...value,
  ...Object.fromEntries(
    options.flatMap(({ field, of, values, default: standard }) =>
      standard !== undefined && values.includes(value[of]) && value[field] === undefined ? [[field, standard]] : [],
    ),
  ),
}));

/** Returns the hyperparameter that decides whether an option has an effect, and when; `undefined` for others. */
export function effectOf(field: string) {
  const option = options.find((each) => each.field === field);
  return (
    option && {
      of: option.of,
      values: option.values,
      standard: recordedHyperparameters.shape[option.of].parse(undefined),
    }
  );
}

/**
 * Returns hyperparameters without the options that their optimizer and schedule do not use: a trial may choose another
 * optimizer than the study's job.
 */
export function withoutUnusedOptions(hyperparameters: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const unused = options.filter(({ of, values }) => {
    const value = hyperparameters[of];
    return typeof value === "string" && !values.includes(value);
  });
  const names = new Set<string>(unused.map(({ field }) => field));
  return Object.fromEntries(Object.entries(hyperparameters).filter(([name]) => !names.has(name)));
}
