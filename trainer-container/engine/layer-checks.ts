/** Refuses layers that TensorFlow.js builds, but cannot compute. */
import type { LayersModel } from "@tensorflow/tfjs-layers";
import { allLayers } from "./canonical-names";
import { ModelError } from "./errors";

type Layer = LayersModel["layers"][number];
type Shape = readonly (number | null)[];

/** @throws ModelError that names the layer, its value and the rule */
export function checkLayers(model: LayersModel): void {
  checkShapes(model.layers);
  for (const layer of allLayers([model])) checkDropout(layer);
}

function checkShapes(list: readonly Layer[]): void {
  for (const layer of list) {
    checkShapes((layer as Partial<LayersModel>).layers ?? []);
    const className = layer.getClassName();
    for (const { inputShapes, outputShapes } of layer.inboundNodes) {
      const [from, to] = [shapesOf(inputShapes), shapesOf(outputShapes)];
      checkSides(layer, from, to);
      if (className === "Reshape") checkReshape(layer, from[0]!, to[0]!);
      if (className === "Softmax") checkSoftmax(layer, from[0]!);
    }
  }
}

/** Returns the shapes of a node. A model of one layer has the shape itself. */
const shapesOf = (shapes: readonly unknown[]): readonly Shape[] =>
  (Array.isArray(shapes[0]) ? shapes : [shapes]) as readonly Shape[];

const rowOf = (shape: Shape): string => `[${shape.slice(1).map((side) => side ?? -1)}]`;

/** Refuses windows that do not fit: the kernels of such layers read outside of their memory. */
function checkSides(layer: Layer, from: readonly Shape[], to: readonly Shape[]): void {
  if (!to.some((shape) => shape.some((side) => side !== null && !(side >= 1)))) return;
  throw new ModelError(
    `The layer '${layer.name}' makes rows of shape ${to.map(rowOf)} from ${from.map(rowOf)}, but each side must be at least 1. ` +
      "Choose a smaller poolSize, kernelSize, dilationRate or cropping, fewer strides before it, or padding 'same'.",
  );
}

function checkReshape(layer: Layer, from: Shape, to: Shape): void {
  if (from.slice(1).includes(null)) return;
  const [given, known] = [from, to].map((shape) => shape.slice(1).reduce<number>((all, side) => all * (side ?? 1), 1));
  const open = to.slice(1).filter((side) => side === null).length;
  if (open === 0 ? given === known : open === 1 && given! % known! === 0) return;
  throw new ModelError(
    `The layer '${layer.name}' cannot make rows of shape ${rowOf(to)} from ${rowOf(from)}, which have ${given} values: ` +
      "the sides must multiply to that number, and one at most may be -1. Change its targetShape.",
  );
}

/** TensorFlow.js computes a softmax along the last axis. Its layer's default is the axis 1. */
function checkSoftmax(layer: Layer, { length }: Shape): void {
  const axes = [(layer as unknown as { readonly axis: number | readonly number[] }).axis].flat();
  if (axes.length > 1 || axes[0] === -1 || axes[0] === length - 1) return;
  throw new ModelError(
    `The layer '${layer.name}' has axis ${axes[0]} (the default is 1), but a softmax is computed along the last axis only. ` +
      "Set axis: -1, and move another axis to the end by tf.layers.permute before it.",
  );
}

/** Refuses a dropout of everything, for which TensorFlow.js drops nothing. It takes a larger rate as 1. */
function checkDropout(layer: Layer): void {
  const { rate } = layer.getConfig();
  if (!layer.getClassName().includes("Dropout") || !(Number(rate) >= 1)) return;
  throw new ModelError(
    `The layer '${layer.name}' has rate 1 or more, but it must be below 1: it would drop everything.`,
  );
}
