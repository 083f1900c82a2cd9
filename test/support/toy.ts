export function toyCsv(rows: number): string {
  let state = 1;
  const noise = (): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
  const lines = Array.from({ length: rows }, (_, i) => {
    const label = i % 3;
    return [noise() + label, noise() - label, noise() * 2, ["red", "green", "blue"][(i * 7) % 3], label].join(",");
  });
  return ["x1,x2,x3,colour,label", ...lines].join("\n");
}

export const toySchema = `columns:
  - { name: x1, type: float, role: feature }
  - { name: x2, type: float, role: feature }
  - { name: x3, type: float, role: feature }
  - { name: colour, type: string, role: feature }
  - { name: label, type: int, role: label }
split: { seed: 1, fractions: { train: 0.8, validation: 0.1, test: 0.1 } }
`;

export const toyJob = (epochs: number, workers = 1): string => `experiment: toy
dataset: toy
registerAs: toy
model: { type: mlp, hidden: [16] }
hyperparameters: { batchSize: 64, epochs: ${epochs}, learningRate: 0.01 }
resources: { workers: ${workers}, backend: wasm }
checkpoint: { everySteps: 20 }
evaluation: { thresholds: { accuracy: 0.8 }, slices: [colour] }
seed: 3
`;
