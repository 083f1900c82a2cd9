/** A newcomer's files: data, a model, jobs. Computed by arithmetic, so that every machine has the same rows. */

export const plans = ["basic", "plus", "pro"] as const;

export interface Customer {
  readonly age: number;
  readonly plan: (typeof plans)[number];
  readonly minutes: number;
  readonly churned: boolean;
}

/** Customers who leave where they are young, talk little and pay for the wrong plan, give or take some noise. */
export function customers(count: number): readonly Customer[] {
  let state = 7;
  const random = (): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
  return Array.from({ length: count }, () => {
    const age = 18 + Math.floor(60 * random());
    const plan = plans[Math.floor(3 * random())]!;
    const minutes = Math.round(6_000 * random()) / 10;
    const score = (45 - age) / 15 + (300 - minutes) / 150 + (plan === "pro" ? -0.5 : 0.5) + 0.5 * (random() - 0.5);
    return { age, plan, minutes, churned: score > 0 };
  });
}

export const csvOf = (rows: readonly Customer[]): string =>
  `${["age,plan,minutes,churned", ...rows.map((row) => Object.values(row).join(","))].join("\n")}\n`;

export const jsonLinesOf = (rows: readonly Customer[]): string =>
  `${rows.map((row) => JSON.stringify(row)).join("\n")}\n`;

export const schema = `columns:
  - { name: age, type: int, role: feature }
  - { name: plan, type: string, role: feature }
  - { name: minutes, type: float, role: feature }
  - { name: churned, type: bool, role: label }
split: { seed: 1, fractions: { train: 0.7, validation: 0.15, test: 0.15 } }
`;

/** The model is registered under the experiment's name. */
export const job = (experiment: string, model: string): string => `experiment: ${experiment}
registerAs: ${experiment}
dataset: customers
model: ${model}
hyperparameters: { batchSize: 32, epochs: 8, learningRate: 0.02 }
resources: { backend: wasm }
evaluation: { thresholds: { accuracy: 0.8 } }
seed: 3
`;

/** Uses what a model of one's own needs types for: layers, initializers, regularizers, methods of tensors. */
export const model = `import { abs, mean, softplus, sub } from "@tensorflow/tfjs-core";
import { defineTraining, type LossFunction, type ModelContext, type SymbolicTensor } from "ringmaster";

/** Cross-entropy in which a customer who leaves unseen costs twice as much. */
const loss: LossFunction = (labels, outputs) => {
  const targets = labels.toFloat().reshape(outputs.shape);
  const missed = targets.mul(softplus(outputs.neg())).mul(2);
  return missed.add(sub(1, targets).mul(softplus(outputs))).mean(1);
};

function network({ tf, inputShape, outputs, task, seed, hyperparameters }: ModelContext) {
  if (task !== "binary") throw new Error(\`this model is for binary labels, not for \${task}\`);
  const input = tf.input({ shape: [...inputShape] });
  const hidden = tf.layers
    .dense({
      units: hyperparameters["units"] as number,
      activation: "tanh",
      kernelInitializer: tf.initializers.heNormal({ seed }),
      kernelRegularizer: tf.regularizers.l2({ l2: 1e-5 }),
    })
    .apply(input) as SymbolicTensor;
  return tf.model({ inputs: input, outputs: tf.layers.dense({ units: outputs }).apply(hidden) as SymbolicTensor });
}

export default defineTraining({
  model: network,
  loss,
  metrics: { meanLogit: (_labels, outputs) => mean(abs(outputs)) },
});
`;

/** Three errors, each in a line of its own: a name that is not there, a value of another type, a result that is none. */
export const wrongModel = `import { defineTraining } from "ringmaster";
export default defineTraining({
  model: ({ tf }) => {
    tf.initializers.heUsual({});
    tf.regularizers.l2({ l2: "much" });
    return tf.layers.dense({ units: 1 });
  },
});
`;
