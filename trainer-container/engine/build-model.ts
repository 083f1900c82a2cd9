import * as tf from "@tensorflow/tfjs-core";
import * as layers from "@tensorflow/tfjs-layers";
import type { LabelScale, ModelDefinition, ModuleDefinition } from "../../core/runs/model-definition";
import { ownLayers } from "../tfjs/layers/register";
import { buildCnn, buildMlp } from "./built-in-models";
import type { ModelContext, TensorFlow } from "./define-training";
import { ModelError } from "./errors";
import { checkClasses, checkLayers, withinWeightSize } from "./layer-checks";
import { installBatchNormalization, installLayerNormalization } from "./layers/normalization";
import { installRecurrent } from "./layers/recurrent";
import { installOrthogonal } from "./orthogonal";
import { withSeededRandom } from "./seeded-random";
import { callUserCode, describeReturned, repeatedName } from "./user-code";

/** Builds the definition's model with weights that depend only on `seed`. @throws ModelError */
export function buildModel(definition: ModelDefinition, seed: number): layers.LayersModel {
  installOrthogonal();
  installRecurrent();
  installBatchNormalization();
  installLayerNormalization();
  const build = () => {
    if (definition.type === "mlp") return buildMlp(definition);
    if (definition.type === "cnn") return buildCnn(definition);
    return buildFromModule(definition, seed);
  };
  const model = withSeededRandom(`initialise ${seed}`, () => withinWeightSize(build));
  freezeInside(model.layers ?? [], false);
  try {
    checkNames(model.layers ?? []);
    checkShapes(model, definition);
    checkWeights(model);
    checkClasses(model);
    checkLogits(model, definition);
  } catch (error) {
    discard(model);
    throw error;
  }
  const { label } = definition;
  return definition.type === "module" && label ? inUnitOf(label, model) : model;
}

/** Adds a layer that makes a label of a standardised value. It has no weights. */
function inUnitOf({ mean, deviation }: LabelScale, model: layers.LayersModel): layers.LayersModel {
  const rescaling = layers.layers.rescaling({ scale: deviation, offset: mean });
  if (!(model instanceof layers.Sequential))
    return layers.model({ inputs: model.inputs, outputs: rescaling.apply(model.outputs) as layers.SymbolicTensor });
  model.add(rescaling);
  return model;
}

/** Disposes of a refused model, as far as the module has not done so. */
function discard(model: layers.LayersModel): void {
  if (!model.inputs) return; // a model without an input shape was not built
  try {
    model.dispose();
  } catch {
    // Parts of it were disposed.
  }
}

/** Freezes the layers inside of frozen models and wrappers: the order of a model's weights depends on it. */
function freezeInside(list: layers.LayersModel["layers"], frozen: boolean): void {
  for (const each of list) {
    const { layers: inner, layer: wrapped } = each as { layers?: typeof list; layer?: (typeof list)[number] };
    const isFrozen = frozen || !each.trainable;
    if (inner) freezeInside(inner, isFrozen);
    else if (isFrozen) each.trainable = false;
    if (wrapped && isFrozen) wrapped.trainable = false;
  }
}

/** Lets wrappers have the option `trainable`, which TensorFlow.js's leave out. */
const freezable =
  <Options extends { readonly trainable?: boolean }, Wrapper extends { trainable: boolean }>(
    create: (options: Options) => Wrapper,
  ) =>
  (options: Options): Wrapper => {
    const wrapper = create(options);
    if (options.trainable === false) wrapper.trainable = false;
    return wrapper;
  };

const wrappers = {
  bidirectional: freezable(layers.layers.bidirectional),
  timeDistributed: freezable(layers.layers.timeDistributed),
};

function buildFromModule(definition: ModuleDefinition, seed: number): layers.LayersModel {
  const { inputShape, outputs, task } = definition;
  const ownNamespace = { ...layers, layers: { ...layers.layers, ...wrappers, ...ownLayers } };
  const tensorFlow = { ...tf, ...ownNamespace } as unknown as TensorFlow;
  const hyperparameters = definition.hyperparameters ?? {};
  const context: ModelContext = { tf: tensorFlow, inputShape, outputs, task, seed, hyperparameters };
  const built = callUserCode("model()", () => (definition.factory as (context: ModelContext) => unknown)(context));
  const candidate = built as Partial<layers.LayersModel> | null | undefined;
  if (typeof candidate?.apply !== "function" || !Array.isArray(candidate.layers)) {
    throw new ModelError(
      `The training module's model() returned ${describeReturned(built)}, not a tf.LayersModel; ` +
        "return tf.sequential(…) or tf.model(…) made with the context's tf, synchronously.",
    );
  }
  checkFit(candidate as layers.LayersModel);
  return built as layers.LayersModel;
}

/** Refuses a model that is being trained: its weights would change while the run computes with them. */
function checkFit(model: layers.LayersModel): void {
  const { isTraining, model: inner, layers: list } = model as unknown as Fitted;
  if (isTraining || inner?.isTraining) {
    throw new ModelError(
      "The training module's model() started fit(), which goes on after model() has returned and changes the weights. " +
        "Remove the call: the run trains the model. For weights that were trained before, set fineTune in the job.",
    );
  }
  for (const each of list ?? []) checkFit(each as layers.LayersModel);
}

/** The undeclared state of training. A sequential model is trained by the model in it. */
interface Fitted {
  readonly isTraining?: boolean;
  readonly model?: { readonly isTraining?: boolean };
  readonly layers?: readonly unknown[];
}

/** Refuses a name that a model repeats. TensorFlow.js checks a sequential model only when it computes. */
function checkNames(list: layers.LayersModel["layers"]): void {
  const names = list.map(({ name }) => name);
  const repeated = names.find((name, i) => names.indexOf(name) !== i);
  if (repeated !== undefined) throw repeatedName(repeated);
  for (const each of list) checkNames((each as { layers?: typeof list }).layers ?? []);
}

function checkShapes(model: layers.LayersModel, { inputShape, outputs }: ModelDefinition): void {
  if (model.inputs?.length !== 1 || model.outputs?.length !== 1) {
    const several = model.inputs?.length > 1 ? " Take parts of the row by tf.layers.selectFeatures({ columns })." : "";
    const hint = model.inputs?.length ? several : " Give the first layer an inputShape.";
    throw new ModelError(
      `The model has ${model.inputs?.length ?? 0} inputs and ${model.outputs?.length ?? 0} outputs; it must have one of each.${hint}`,
    );
  }
  const input = model.inputs[0]?.shape.slice(1) ?? [];
  const output = model.outputs[0]?.shape.slice(1) ?? [];
  if (input.join() !== inputShape.join()) {
    throw new ModelError(`The model takes rows of shape [${input}], but the data's rows are [${inputShape}].`);
  }
  checkLayers(model);
  if (output.length !== 1 || output[0] !== outputs) {
    throw new ModelError(`The model gives rows of shape [${output}], but the task needs [${outputs}].`);
  }
}

function checkWeights(model: layers.LayersModel): void {
  if (model.trainableWeights.length === 0)
    throw new ModelError(
      "The model has no trainable weights. Add a layer that has some, such as dense, or leave one unfrozen.",
    );
  const disposed = model.weights.find((weight) => (weight as unknown as { val: tf.Tensor }).val.isDisposed);
  if (disposed) {
    throw new ModelError(
      `The weight '${disposed.originalName}' is disposed; the module must not dispose of its model or of parts of it.`,
    );
  }
  const odd = model.weights.find((weight) => weight.dtype !== "float32");
  if (odd) throw new ModelError(`The weight '${odd.originalName}' is ${odd.dtype}; only float32 weights are trained.`);
  const constrained = model.weights.find((weight) => (weight as unknown as { constraint?: unknown }).constraint);
  if (constrained) {
    throw new ModelError(
      `The weight '${constrained.originalName}' has a constraint. Optimizer steps do not apply constraints; ` +
        "use a regularizer instead, e.g. kernelRegularizer.",
    );
  }
  const stateful = model.layers.find((layer) => layer.stateful);
  if (stateful) {
    throw new ModelError(
      `The layer '${stateful.name}' is stateful: its state would depend on which worker saw which rows. Set stateful: false.`,
    );
  }
}

/** Refuses probabilities as outputs. A regression may learn values from 0 to 1. */
function checkLogits(model: layers.LayersModel, { task }: ModelDefinition): void {
  const last = outputLayerOf(model);
  const { activation } = (last?.getConfig() ?? {}) as { activation?: unknown };
  if (activation === "softmax" || last?.getClassName() === "Softmax") {
    throw new ModelError("The model ends in softmax; return logits (activation 'linear'): the loss applies it.");
  }
  if (activation === "sigmoid" && task !== "regression") {
    const applied = task === "binary" ? "it" : "softmax";
    throw new ModelError(
      `The model ends in sigmoid; return logits (activation 'linear'): the loss applies ${applied}.`,
    );
  }
}

/** Returns the layer that computes an output, also inside nested models. */
function outputLayerOf(model: layers.LayersModel, output = 0): layers.LayersModel["layers"][number] | undefined {
  const tensor = model.outputs[output];
  const last = tensor?.sourceLayer;
  const inner = last as Partial<layers.LayersModel> | undefined;
  return inner?.layers ? outputLayerOf(inner as layers.LayersModel, tensor?.tensorIndex) : last;
}
