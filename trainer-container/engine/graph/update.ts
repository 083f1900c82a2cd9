/** An optimizer step as nodes of a graph, by TensorFlow's fused operations, or on a CPU by our own for Adam. */
import type { Attribute, GraphNode, Value } from "../../../adapters/saved-model/graph-def";
import type { OptimizerConfig } from "../../optimizer/optimizer";
import type { OptimizerSettings, StepUpdate } from "../engine";
import { floatType, type GraphBuilder, int32, integersOf } from "./builder";
import type { Variables } from "./session";

/** A variable of the model, and the sum of its gradients over the micro-batches. */
interface Updated {
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
export const constantCount = 9;

/** A step's numbers in the order of `Constants` in `trainer-container/native/operations/adam.cc`, in double precision. */
export function updateConstants({ config, clipNorm = 0 }: OptimizerSettings, update: StepUpdate): readonly number[] {
  const { step, learningRate, mean, unscaled } = update;
  const common = [unscaled, mean];
  if (config.type === "sgd" || config.type === "momentum") return [...common, learningRate, 0, 0, 0, 0, 0, 0];
  const { beta1 = defaults.beta1, beta2 = defaults.beta2, epsilon = defaults.epsilon } = config;
  // η·m̂ / (√v̂ + ε) = rate·m / (√v + ε·√(1 − β₂ᵗ)), because the operation corrects neither moment nor ε.
  const root = Math.sqrt(1 - beta2 ** step);
  const decay = config.type === "adamw" ? learningRate * (config.weightDecay ?? defaults.adamwDecay) : 0;
  const rate = (learningRate * root) / (1 - beta1 ** step);
  return [...common, rate, epsilon * root, decay, 1 - beta1, 1 - beta2, penaltyOf(config), clipNorm];
}

/** λ of an L2 penalty. */
const penaltyOf = (config: OptimizerConfig): number => (config.type === "adamw" ? 0 : (config.weightDecay ?? 0));

export interface UpdateOptions {
  readonly builder: GraphBuilder;
  readonly variables: Variables;
  readonly settings: OptimizerSettings;
  /** See `hasOwnOperations`. */
  readonly ownOperations: boolean;
}

interface StepInputs {
  readonly updated: readonly Updated[];
  /** Vector of `updateConstants`. */
  readonly constants: Value;
  /** A number that must be finite too. It follows from all that reads weights, except for gradients. Default: 0. */
  readonly loss?: Value;
  /** All gradients as one vector, in the order of `updated`, if there is one. */
  readonly flat?: Value;
}

/**
 * Adds an optimizer step with the meaning of `Optimizer.step` and `applyStatistics`, but other bits than JavaScript's.
 * @returns the norm before clipping, and 0 after the update; 1 if nothing changed, as norm or loss is not finite
 */
export function addUpdate(options: UpdateOptions, inputs: StepInputs): Value {
  const { builder } = options;
  if (!takesOwnAdam(options)) return addSeparateUpdate(options, inputs);
  const { updated, constants } = inputs;
  const taken = addFusedAdam(options, inputs);
  const statistics = updated.filter((each) => !each.trainable);
  if (statistics.length === 0) return taken;
  const skipped = { node: unpack(builder, taken, 2).node, output: 1 };
  const finite = builder.add("Equal", [skipped, builder.number(0)]);
  const mean = builder.add("Switch", [{ node: unpack(builder, constants, constantCount).node, output: 1 }, finite]);
  const passed: Value = { node: mean.node, output: 1 };
  const done = builder.add("Identity", [passed], undefined, addStatistics(builder, statistics, passed));
  const merged = builder.add("Merge", [done, mean], { T: floatType, N: { kind: "int", value: 2 } });
  return builder.add("Identity", [taken], undefined, [merged]);
}

/** Whether the step is one operation of our own. */
export function takesOwnAdam({ settings, ownOperations }: Pick<UpdateOptions, "settings" | "ownOperations">): boolean {
  const { type } = settings.config;
  return ownOperations && (type === "adam" || type === "adamw");
}

/** Adds the step as one operation (`trainer-container/native/operations/adam.cc`). It changes the memory that reading a variable gives. */
function addFusedAdam({ builder, variables }: UpdateOptions, { updated, constants, loss, flat }: StepInputs): Value {
  const trainable = updated.filter((each) => each.trainable);
  const none = builder.integers([]);
  const sparseRows = trainable.map(({ gradient }) => (flat ? undefined : rowsOf(builder.nodes, gradient)));
  const elements = trainable.map(({ gradient }, index) => sparseRows[index]?.rows ?? unshaped(builder.nodes, gradient));
  const gradients = flat ? [flat] : elements;
  const ids = sparseRows.map((rows) => rows?.ids ?? none);
  const read = (handles: readonly Value[]) => handles.map((handle) => variables.reading(handle));
  const slotsAt = (index: number) => trainable.map(({ slots }) => slots[index] as Value);
  return builder.add(
    "RingmasterAdam",
    [
      constants,
      loss ?? builder.number(0),
      ...read(trainable.map(({ weight }) => weight)),
      ...read(slotsAt(0)),
      ...read(slotsAt(1)),
      ...gradients,
      ...ids,
    ],
    { N: { kind: "int", value: trainable.length }, G: { kind: "int", value: gradients.length } },
  );
}

/** Returns the rows that an embedding's gradient sums, and their ids; undefined: it is another gradient. */
function rowsOf(
  nodes: readonly GraphNode[],
  gradient: Value,
): { readonly rows: Value; readonly ids: Value } | undefined {
  const { op, inputs, attributes } = nodes[gradient.node] as GraphNode;
  const [from, ids] = inputs as [Value, Value];
  const keepsOrder = (): boolean => integersOf(nodes[ids.node] as GraphNode)?.every((axis, at) => axis === at) === true;
  if (op === "Reshape" || (op === "Transpose" && keepsOrder())) return rowsOf(nodes, from);
  const indices = attributes["Tindices"];
  if (op !== "UnsortedSegmentSum" || indices?.kind !== "type" || indices.value !== int32) return undefined;
  return { rows: from, ids };
}

/** Passes over operations that change a value's shape only. Each takes about 2 µs. */
export function unshaped(nodes: readonly GraphNode[], value: Value): Value {
  const { op, inputs } = nodes[value.node] as GraphNode;
  return op === "Reshape" ? unshaped(nodes, inputs[0] as Value) : value;
}

/** Adds a node whose outputs are the elements of a vector. */
function unpack(builder: GraphBuilder, vector: Value, elements: number): Value {
  return builder.add("Unpack", [vector], {
    num: { kind: "int", value: elements },
    T: floatType,
    axis: { kind: "int", value: 0 },
  });
}

const shaped = (builder: GraphBuilder, { gradient, shape }: Updated): Value =>
  builder.add("Reshape", [gradient, builder.integers(shape)], { T: floatType, Tshape: { kind: "type", value: int32 } });

/** Adds the updates of running statistics. @param mean factor of their gradients */
function addStatistics(builder: GraphBuilder, statistics: readonly Updated[], mean: Value): readonly Value[] {
  return statistics.map((each) => {
    const change = builder.add("Mul", [shaped(builder, each), mean]);
    return builder.add("AssignSubVariableOp", [each.weight, change], { dtype: floatType });
  });
}

/** Adds a step with an operation of TensorFlow for each weight. */
function addSeparateUpdate(
  { builder, variables, settings: { config, clipNorm } }: UpdateOptions,
  { updated, constants, loss }: StepInputs,
): Value {
  const add = builder.add.bind(builder);
  const unpacked = unpack(builder, constants, constantCount);
  const constant = (output: number): Value => ({ node: unpacked.node, output });

  const trainable = updated.filter((each) => each.trainable);
  // Without a pass over the gradient if the factor is 1, see `Replica.gradientScale`.
  const needsNone = add("Equal", [constant(0), builder.number(1)], { T: floatType });
  const scaled = trainable.map((each) => {
    const { node } = add("Switch", [shaped(builder, each), needsNone]);
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
  const statistics = addStatistics(
    builder,
    updated.filter((each) => !each.trainable),
    mean,
  );
  const done = add("Identity", [rate], undefined, [...steps, ...statistics]);
  const skipped: Value = { node: rate.node, output: 0 };
  const merged = add("Merge", [done, skipped], { T: floatType, N: { kind: "int", value: 2 } });
  const outcome = add("Cast", [{ node: merged.node, output: 1 }], {
    SrcT: { kind: "type", value: int32 },
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

function addStep(
  { builder, variables, rate, epsilon, decay }: StepNodes,
  config: OptimizerConfig,
  { weight, slots }: Updated,
  gradient: Value,
): Value {
  const penalty = penaltyOf(config);
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
