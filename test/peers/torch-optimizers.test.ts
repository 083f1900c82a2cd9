import { spawnSync } from "node:child_process";
import path from "node:path";
import { type Hyperparameters, hyperparametersSchema } from "../../core/runs/hyperparameters";
import { simdGround } from "../../trainer-container/kernels/updates";
import { planTraining } from "../../trainer-container/loop/plan";
import { createOptimizer } from "../../trainer-container/optimizer/create-optimizer";
import { learningRateAt } from "../../trainer-container/optimizer/learning-rate";
import { oneOf, type Random, seededRandom } from "../support/random";
import { taskOf } from "../trainer/loop/in-process";

interface Trained {
  /** After each step. */
  readonly weights: readonly (readonly number[])[];
  readonly rates: readonly number[];
}
interface TrainingSet {
  readonly job: Hyperparameters;
  readonly weights: readonly number[];
  readonly gradients: readonly (readonly number[])[];
}

const python = process.env["RINGMASTER_PEERS_PYTHON"] || "python3";
const probe = spawnSync(python, ["-c", "import torch; print(torch.__version__)"], { encoding: "utf8" });
const title =
  probe.status === 0
    ? `PyTorch ${probe.stdout.trim()}`
    : `PyTorch (skipped: ${python} cannot import torch; name a Python that can in RINGMASTER_PEERS_PYTHON)`;

const steps = 40;
const elements = 9;
/** Ours is float32, the reference float64: some 40 roundings of weights near 1. */
const tolerance = 5e-6;

const optimizers = [
  { optimizer: "sgd" },
  { optimizer: "momentum" },
  { optimizer: "momentum", momentum: 0.5, nesterov: true },
  { optimizer: "adam" },
  { optimizer: "adam", beta1: 0.7, beta2: 0.9, epsilon: 1e-3 },
  { optimizer: "adamw" },
  { optimizer: "adamw", beta1: 0.5, beta2: 0.98, epsilon: 1e-4 },
];
const schedules = [
  { schedule: "constant" },
  { schedule: "cosine" },
  { schedule: "cosine", minLearningRate: 0.004 },
  { schedule: "step", stepSize: 7 },
  { schedule: "step", stepSize: 11, gamma: 0.6 },
];
const jobs = optimizers.flatMap((optimizer) =>
  schedules.flatMap((schedule) =>
    [0, 0.3].map((weightDecay) => ({ ...optimizer, ...schedule, weightDecay, learningRate: 0.01, clipNorm: 0 })),
  ),
);

const numbers = (random: Random, size: number): readonly number[] =>
  Array.from({ length: size }, () => Math.fround((random() - 0.5) * oneOf(random, [0.1, 1, 4])));

function trainHere({ job, weights, gradients }: TrainingSet): Trained {
  // 96 rows in batches of 24 are 4 steps an epoch.
  const plan = planTraining(taskOf({}, { ...job, batchSize: 24, epochs: steps / 4, warmupSteps: 0 }), 96);
  expect(plan.totalSteps).toBe(steps);
  const optimizer = createOptimizer(plan.optimizer, elements, simdGround);
  const current = Float32Array.from(weights);
  const rates: number[] = [];
  const after = gradients.map((gradient, index) => {
    const step = index + 1;
    const learningRate = learningRateAt(plan.learningRate, step, plan.totalSteps);
    rates.push(learningRate);
    optimizer.step(current, Float32Array.from(gradient), { step, learningRate });
    return [...current];
  });
  return { weights: after, rates };
}

const largest = (ours: readonly number[], theirs: readonly number[]): number =>
  Math.max(...ours.map((value, at) => Math.abs(value - theirs[at]!)));

(probe.status === 0 ? describe : describe.skip)(title, () => {
  let references: readonly Trained[];
  const random = seededRandom(13);
  const sets = jobs.map(
    (job): TrainingSet => ({
      job: hyperparametersSchema.parse(job),
      weights: numbers(random, elements),
      gradients: Array.from({ length: steps }, () => numbers(random, elements)),
    }),
  );
  beforeAll(() => {
    const { status, stdout, stderr } = spawnSync(python, [path.join(__dirname, "torch-optimizers.py")], {
      input: JSON.stringify({ sets }),
      encoding: "utf8",
      maxBuffer: 256 * 1024 * 1024,
    });
    if (status !== 0) throw new Error(stderr);
    references = JSON.parse(stdout) as readonly Trained[];
  }, 120_000);

  it.each(jobs.map((job, index) => [job, index] as const))("agrees at every step with the job %j", (_job, index) => {
    const ours = trainHere(sets[index]!);
    const theirs = references[index]!;
    expect(largest(ours.rates, theirs.rates)).toBeLessThan(1e-12);
    for (const [step, weights] of ours.weights.entries()) {
      expect(largest(weights, theirs.weights[step]!)).toBeLessThan(tolerance);
    }
  });
});
