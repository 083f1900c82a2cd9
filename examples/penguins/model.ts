import { max, mean, softmax } from "@tensorflow/tfjs-core";
import type { SymbolicTensor } from "@tensorflow/tfjs-layers";
import { defineTraining } from "ringmaster";

/** A dense network with one residual connection: what a job file's own models cannot say. */
export default defineTraining({
  model: ({ tf, inputShape, outputs, hyperparameters }) => {
    const units = hyperparameters["units"] as number; // `model.options.units` of the job
    const input = tf.input({ shape: [...inputShape] });
    const wide = tf.layers.dense({ units, activation: "relu" }).apply(input) as SymbolicTensor;
    const deep = tf.layers.dense({ units, activation: "relu" }).apply(wide) as SymbolicTensor;
    const sum = tf.layers.add().apply([wide, deep]);
    return tf.model({ inputs: input, outputs: tf.layers.dense({ units: outputs }).apply(sum) as SymbolicTensor });
  },
  metrics: {
    /** Mean probability of the likeliest class. */
    confidence: (_labels, outputs) => mean(max(softmax(outputs), 1)),
  },
});
