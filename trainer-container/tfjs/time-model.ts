import { stopwatch } from "../../adapters/host/stopwatch";
import { containerOf } from "../../core/evaluation/container-model";
import { measureLatency, type TimeModel } from "../../core/evaluation/latency";

/** Larger weights have no place in the memory of the function that serves the API. */
const maxWeightBytes = 2 ** 27;

/** Loads TensorFlow.js at the first call, because few verdicts need it. */
export const timeModel: TimeModel = async (objects, { topology, weights }) => {
  if (weights.bytes > maxWeightBytes) return undefined;
  const [text, bytes] = await Promise.all([objects.getContent(topology.sha256), objects.getContent(weights.sha256)]);
  if (containerOf(new TextDecoder().decode(text))) return undefined;
  const { loadPredictor } = await import("./predictor");
  const predictor = await loadPredictor({ topology: new TextDecoder().decode(text), weights: bytes });
  try {
    const { inputShape } = predictor.topology;
    return measureLatency(
      predictor,
      [new Float32Array(inputShape.reduce((size, side) => size * side, 1))],
      stopwatch(),
    );
  } finally {
    predictor.dispose();
  }
};
