import type { layers } from "@tensorflow/tfjs-layers";
import { parseTopology } from "./artifact";
import { rebuild } from "./predictor";
import { startWasmBackend } from "./wasm-backend";

type Layer = layers.Layer;

/**
 * Estimates the multiply-adds of one row: each weight once per pixel or step, each element of an output once.
 * @throws ModelArtifactError if the layers cannot be rebuilt
 */
export async function operationsPerRow(json: string): Promise<number> {
  await startWasmBackend();
  const model = await rebuild(parseTopology(json));
  try {
    return model.layers.reduce((sum, layer) => sum + operationsOf(layer), 0);
  } finally {
    model.dispose();
  }
}

function operationsOf(layer: Layer): number {
  const outputs = shapesOf(layer.outputShape);
  const elements = outputs.reduce((sum, shape) => sum + product(shape), 0);
  // An embedding looks its rows up.
  if (layer.getClassName() === "Embedding") return elements;
  const weights = layer.weights.reduce((sum, { shape }) => sum + product(shape), 0);
  const steps = layer.getClassName().match(/RNN|LSTM|GRU|Bidirectional/) ? inputShapesOf(layer) : outputs;
  const positions = Math.max(1, ...steps.map((shape) => product(shape.slice(1, -1))));
  return elements + weights * positions;
}

const inputShapesOf = (layer: Layer): readonly Shape[] =>
  layer.inboundNodes.flatMap(({ inputShapes }) => inputShapes as Shape[]);

type Shape = readonly (number | null)[];

const shapesOf = (shape: Layer["outputShape"]): readonly Shape[] =>
  (Array.isArray(shape[0]) ? shape : [shape]) as readonly Shape[];

/** The size of the batch, which is unknown, counts as one row. */
const product = (shape: Shape): number => shape.reduce<number>((all, side) => all * (side ?? 1), 1);
