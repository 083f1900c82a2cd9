import { createOptimizer } from "../../trainer-container/optimizer/create-optimizer";
import { type AdamVariant, doubleAdam, plainAdam } from "./rounded-adam";

/** The end of 10,000 steps: distance from the float64 optimizer relative to its weights, and the effect on the loss. */
export interface AccuracyLine {
  readonly setting: string;
  readonly arithmetic: string;
  readonly relativeError: number;
  readonly lossDifference: number;
}

const [features, rows, batch, steps] = [200, 2_000, 32, 10_000];

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 0x7fff_ffff;
    return state / 0x7fff_ffff;
  };
}

/** Creates a logistic regression on features whose scales span four decades, with labels drawn from a true model. */
function createProblem() {
  const next = random(5);
  const normal = () => Math.sqrt(-2 * Math.log(next() + 1e-12)) * Math.cos(2 * Math.PI * next());
  const inputs = Float64Array.from({ length: rows * features }, (_, i) => normal() * 10 ** (-(i % features) / 50));
  const truth = Float64Array.from({ length: features }, normal);
  const logit = (row: number, weights: ArrayLike<number>) => {
    let sum = 0;
    for (let j = 0; j < features; j++) sum += (inputs[row * features + j] as number) * (weights[j] as number);
    return sum;
  };
  const labels = Array.from({ length: rows }, (_, row) => (next() < 1 / (1 + Math.exp(-logit(row, truth))) ? 1 : 0));
  return {
    gradient(weights: ArrayLike<number>, step: number): Float64Array {
      const into = new Float64Array(features);
      const draw = random(step * 7 + 1);
      for (let b = 0; b < batch; b++) {
        const row = Math.floor(draw() * rows);
        const error = (1 / (1 + Math.exp(-logit(row, weights))) - (labels[row] as number)) / batch;
        for (let j = 0; j < features; j++)
          into[j] = (into[j] as number) + error * (inputs[row * features + j] as number);
      }
      return into;
    },
    loss(weights: ArrayLike<number>): number {
      let sum = 0;
      for (let row = 0; row < rows; row++) {
        const z = logit(row, weights);
        sum += Math.log(1 + Math.exp(labels[row] === 1 ? -z : z));
      }
      return sum / rows;
    },
  };
}

function product(weightDecay: number): AdamVariant {
  const weights = new Float32Array(features);
  const optimizer = createOptimizer(weightDecay > 0 ? { type: "adamw", weightDecay } : { type: "adam" }, features);
  return {
    weights,
    step: (gradients, { step, learningRate }) =>
      optimizer.step(weights, Float32Array.from(gradients), { step, learningRate }),
  };
}

export function measureAccuracy(): AccuracyLine[] {
  const problem = createProblem();
  const settings = [
    { setting: "Adam, constant rate", weightDecay: 0, rate: () => 0.01 },
    {
      setting: "Adam, cosine",
      weightDecay: 0,
      rate: (step: number) => 0.005 * (1 + Math.cos((Math.PI * step) / steps)),
    },
    {
      setting: "AdamW, cosine",
      weightDecay: 0.01,
      rate: (step: number) => 0.005 * (1 + Math.cos((Math.PI * step) / steps)),
    },
  ];
  return settings.flatMap(({ setting, weightDecay, rate }) => {
    const train = (variant: AdamVariant) => {
      for (let step = 1; step <= steps; step++) {
        variant.step(problem.gradient(variant.weights, step), { step, learningRate: rate(step), weightDecay });
      }
      return variant.weights;
    };
    const exact = train(doubleAdam(() => new Float64Array(features)));
    const norm = Math.hypot(...exact);
    const exactLoss = problem.loss(exact);
    const variants: readonly (readonly [string, AdamVariant])[] = [
      ["float64, stored as float32", doubleAdam(() => new Float32Array(features))],
      ["float32, moments as increments (the product's)", product(weightDecay)],
      ["float32, moments as in the paper", plainAdam(features)],
    ];
    return variants.map(([arithmetic, variant]) => {
      const weights = train(variant);
      const differences = Array.from(weights, (weight, i) => weight - (exact[i] as number));
      return {
        setting,
        arithmetic,
        relativeError: Math.hypot(...differences) / norm,
        lossDifference: problem.loss(weights) - exactLoss,
      };
    });
  });
}
