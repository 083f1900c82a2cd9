import { type Space, spaceSchema } from "../../core/tuning/space";

/** Parameters of a model that is easy to train fast and hard to train well. */
export const curveSpace: Space = spaceSchema.parse({
  rate: { type: "float", low: 1e-4, high: 1, log: true },
  decay: { type: "float", low: 1e-6, high: 1e-2, log: true },
  dropout: { type: "float", low: 0, high: 0.8 },
  width: { type: "int", low: 8, high: 512, log: true },
});

const scales = [1, 0.25, 0.5, 0.5];

/**
 * Returns a validation loss after an epoch. It falls exponentially to a value that is least at a point which depends on
 * the seed. A higher rate and a smaller width learn faster, so that curves cross. `hyperband.py` has the same formula.
 */
export function curveAt(params: Readonly<Record<string, unknown>>, epoch: number, seed: number): number {
  const unit = [
    (Math.log10(Number(params["rate"])) + 4) / 4,
    (Math.log10(Number(params["decay"])) + 6) / 4,
    Number(params["dropout"]) / 0.8,
    Math.log(Number(params["width"]) / 8) / Math.log(64),
  ];
  const distance = unit.reduce((sum, x, at) => sum + scales[at]! * (x - centre(seed, at)) ** 2, 0);
  const least = 0.05 + distance;
  const speed = 0.02 * 30 ** (0.7 * unit[0]! + 0.3 * (1 - unit[3]!));
  const wave = 0.01 * Math.sin(12.9898 * epoch + 78.233 * (unit[0]! + unit[1]!) + 37.719 * (unit[2]! + unit[3]!));
  return least + (2.3 - least) * Math.exp(-speed * epoch) + wave;
}

/** Returns the best place of a parameter, between 0.2 and 0.8. */
function centre(seed: number, parameter: number): number {
  return 0.2 + (0.6 * ((seed * 7 + parameter * 13 + 5) % 31)) / 30;
}
