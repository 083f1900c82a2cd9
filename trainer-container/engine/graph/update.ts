/** An optimizer step as nodes of a graph, by TensorFlow's fused operations. */
import type { Attribute, Value } from "../../../core/saved-model/graph-def";
import type { OptimizerConfig } from "../../optimizer/optimizer";
import type { OptimizerSettings, StepUpdate } from "../engine";
import { floatType, type GraphBuilder } from "./builder";
import type { Variables } from "./variables";

/** A variable of the model, and the sum of its gradients over the microshards. */
export interface Updated {
  readonly weight: Value;
  /** False for running statistics, see `ParameterSlot.trainable`. */
  readonly trainable: boolean;
  readonly shape: readonly number[];
  /** Handles of the optimizer's slots, in the order of their names; none for statistics. */
  readonly slots: readonly Value[];
  /** Has as many elements as the weight, in any shape. */
  readonly gradient: Value;
}

const defaults = { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, momentum: 0.9, adamwDecay: 0.01 } as const;
/** Number of elements of `updateConstants`. */
export const constantCount = 5;

/** Returns the numbers of a step that its nodes take as a vector. They are computed in double precision. */
export function updateConstants(config: OptimizerConfig, update: StepUpdate): readonly number[] {
  const { step, learningRate, mean, unscaled } = update;
  const common = [unscaled, mean];
  if (config.type === "sgd" || config.type === "momentum") return [...common, learningRate, 0, 0];
  const { beta1 = defaults.beta1, beta2 = defaults.beta2, epsilon = defaults.epsilon } = config;
  // η·m̂ / (√v̂ + ε) = rate·m / (√v + ε·√(1 − β₂ᵗ)), because the operation corrects neither moment nor ε.
  const root = Math.sqrt(1 - beta2 ** step);
  const decay = config.type === "adamw" ? learningRate * (config.weightDecay ?? defaults.adamwDecay) : 0;
  return [...common, (learningRate * root) / (1 - beta1 ** step), epsilon * root, decay];
}

/**
 * Adds an optimizer step with the meaning of `Optimizer.step` and `applyStatistics`. Its operations are TensorFlow's own,
 * so its bits differ from those of JavaScript. They are the same wherever the gradients come from.
 *
 * @param constants vector of `updateConstants`
 * @param loss a number that must be finite too
 * @returns a vector: the norm of the mean gradient before clipping, and 0 after the update of all variables. It is 1 if
 *   nothing was changed, because norm or loss is not finite.
 */
export function addUpdate(
  builder: GraphBuilder,
  variables: Variables,
  { config, clipNorm }: OptimizerSettings,
  updated: readonly Updated[],
  constants: Value,
  loss?: Value,
): Value {
  const add = builder.add.bind(builder);
  const unpacked = add("Unpack", [constants], {
    num: { kind: "int", value: constantCount },
    T: floatType,
    axis: { kind: "int", value: 0 },
  });
  const constant = (output: number): Value => ({ node: unpacked.node, output });
  const shaped = ({ gradient, shape }: Updated): Value =>
    add("Reshape", [gradient, builder.integers(shape)], { T: floatType, Tshape: { kind: "type", value: 3 } });

  const trainable = updated.filter((each) => each.trainable);
  // Without a pass over the gradient if the factor is 1, see `Replica.gradientScale`.
  const needsNone = add("Equal", [constant(0), builder.number(1)], { T: floatType });
  const scaled = trainable.map((each) => {
    const { node } = add("Switch", [shaped(each), needsNone]);
    const product = add("Mul", [{ node, output: 0 }, constant(0)]);
    return add("Merge", [product, { node, output: 1 }], { T: floatType, N: { kind: "int", value: 2 } });
  });
  const halves = scaled.map((gradient) => add("L2Loss", [gradient]));
  const half = add("AddN", halves, { N: { kind: "int", value: halves.length }, T: floatType });
  const norm = add("Sqrt", [add("Mul", [half, builder.number(2)])]);
  const normIsFinite = add("IsFinite", [norm]);
  const finite = loss === undefined ? normIsFinite : add("LogicalAnd", [normIsFinite, add("IsFinite", [loss])], {});

  /** Passes a number on if the step is taken. Otherwise nodes that depend on it do not run. */
  const taken = (value: Value): Value => ({ node: add("Switch", [value, finite]).node, output: 1 });
  const factor = clipNorm && add("Minimum", [builder.number(1), add("RealDiv", [builder.number(clipNorm), norm])]);
  const [mean, rate, epsilon, decay] = [taken(constant(1)), taken(constant(2)), taken(constant(3)), taken(constant(4))];
  const context = { builder, variables, rate, epsilon, decay };
  const steps = trainable.map((each, index) => {
    const gradient = scaled[index] as Value;
    return addStep(context, config, each, factor ? add("Mul", [gradient, factor]) : gradient);
  });
  const statistics = updated
    .filter((each) => !each.trainable)
    .map((each) => add("AssignSubVariableOp", [each.weight, add("Mul", [shaped(each), mean])], { dtype: floatType }));
  const done = add("Identity", [rate], undefined, [...steps, ...statistics]);
  const skipped: Value = { node: rate.node, output: 0 };
  const merged = add("Merge", [done, skipped], { T: floatType, N: { kind: "int", value: 2 } });
  const outcome = add("Cast", [{ node: merged.node, output: 1 }], {
    SrcT: { kind: "type", value: 3 },
    DstT: floatType,
    Truncate: { kind: "bool", value: false },
  });
  return add("Pack", [norm, outcome], { N: { kind: "int", value: 2 }, T: floatType, axis: { kind: "int", value: 0 } });
}

interface StepNodes {
  readonly builder: GraphBuilder;
  readonly variables: Variables;
  readonly rate: Value;
  readonly epsilon: Value;
  readonly decay: Value;
}

const unlocked = { T: floatType, use_locking: { kind: "bool", value: false } } satisfies Record<string, Attribute>;

/** Adds the update of one weight and its slots. @returns its last node */
function addStep(
  { builder, variables, rate, epsilon, decay }: StepNodes,
  config: OptimizerConfig,
  { weight, slots }: Updated,
  gradient: Value,
): Value {
  const penalty = config.type === "adamw" ? 0 : (config.weightDecay ?? 0);
  const scaledWeight = (factor: Value): Value => builder.add("Mul", [variables.reading(weight), factor]);
  const direction = penalty === 0 ? gradient : builder.add("AddV2", [gradient, scaledWeight(builder.number(penalty))]);
  switch (config.type) {
    case "sgd":
      return builder.add("ResourceApplyGradientDescent", [weight, rate, direction], unlocked);
    case "momentum":
      return builder.add(
        "ResourceApplyMomentum",
        [weight, ...slots, rate, direction, builder.number(config.momentum ?? defaults.momentum)],
        { ...unlocked, use_nesterov: { kind: "bool", value: config.nesterov ?? false } },
      );
    default: {
      const { beta1 = defaults.beta1, beta2 = defaults.beta2 } = config;
      const uncorrected = builder.number(0);
      const decayed =
        config.type === "adamw"
          ? [builder.add("AssignSubVariableOp", [weight, scaledWeight(decay)], { dtype: floatType })]
          : [];
      return builder.add(
        "ResourceApplyAdam",
        [
          weight,
          ...slots,
          uncorrected,
          uncorrected,
          rate,
          builder.number(beta1),
          builder.number(beta2),
          epsilon,
          direction,
        ],
        { ...unlocked, use_nesterov: { kind: "bool", value: false } },
        decayed,
      );
    }
  }
}
