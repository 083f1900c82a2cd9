import { type Space, spaceSchema } from "../../core/tuning/space";

type Params = Readonly<Record<string, unknown>>;

/** A function with a known least value. `samplers.py` has the same formulas. */
export interface TestFunction {
  readonly space: Space;
  readonly least: number;
  readonly at: (params: Params) => number;
}

const names = ["a", "b", "c", "d", "e", "f"];
// Moves the least value from the centre of the space, where a sampler might begin.
const shift = [0.7, -1.1, 0.4, 1.3, -0.6];

const box = (low: number, high: number, size: number): Space =>
  spaceSchema.parse(Object.fromEntries(names.slice(0, size).map((name) => [name, { type: "float", low, high }])));

const sumOf = (x: readonly number[], f: (one: number, at: number) => number): number =>
  x.reduce((sum, one, at) => sum + f(one, at), 0);

const listed =
  (f: (x: readonly number[]) => number) =>
  (params: Params): number =>
    f(names.flatMap((name) => (name in params ? Number(params[name]) : [])));

const shifted = (f: (x: readonly number[]) => number) => listed((x) => f(x.map((one, at) => one - shift[at]!)));

const { PI: pi, cos, exp, sqrt } = Math;

const hartmannWeights = [
  [10, 3, 17, 3.5, 1.7, 8],
  [0.05, 10, 17, 0.1, 8, 14],
  [3, 3.5, 1.7, 10, 17, 8],
  [17, 8, 0.05, 10, 0.1, 14],
];
const hartmannCentres = [
  [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
  [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
  [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.665],
  [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
];
const hartmann = (x: readonly number[]) =>
  -sumOf([1, 1.2, 3, 3.2], (alpha, i) => {
    const distance = sumOf(x, (one, j) => hartmannWeights[i]![j]! * (one - hartmannCentres[i]![j]!) ** 2);
    return alpha * exp(-distance);
  });

const optimizers: Readonly<Record<string, readonly [centre: number, penalty: number]>> = {
  sgd: [-1.5, 0.6],
  momentum: [-2, 0.3],
  adam: [-3, 0],
  rmsprop: [-3.5, 0.2],
};

function mixed(params: Params): number {
  const [centre, penalty] = optimizers[String(params["optimizer"])]!;
  return (
    penalty +
    (Math.log10(Number(params["rate"])) - centre) ** 2 +
    0.1 * (Number(params["layers"]) - 5) ** 2 +
    0.3 * Math.log2(Number(params["width"]) / 90) ** 2 +
    4 * (Number(params["dropout"]) - 0.3) ** 2
  );
}

export const functions: Readonly<Record<string, TestFunction>> = {
  sphere5: { space: box(-5, 5, 5), least: 0, at: shifted((y) => sumOf(y, (one) => one * one)) },
  rosenbrock5: {
    space: box(-2, 2, 5),
    least: 0,
    at: listed((x) => sumOf(x.slice(1), (next, i) => 100 * (next - x[i]! ** 2) ** 2 + (1 - x[i]!) ** 2)),
  },
  rastrigin5: {
    space: box(-5, 5, 5),
    least: 0,
    at: shifted((y) => sumOf(y, (one) => 10 + one * one - 10 * cos(2 * pi * one))),
  },
  ackley5: {
    space: box(-32, 32, 5),
    least: 0,
    at: shifted(
      (y) =>
        -20 * exp(-0.2 * sqrt(sumOf(y, (one) => one * one) / 5)) -
        exp(sumOf(y, (one) => cos(2 * pi * one)) / 5) +
        20 +
        Math.E,
    ),
  },
  branin: {
    space: spaceSchema.parse({ a: { type: "float", low: -5, high: 10 }, b: { type: "float", low: 0, high: 15 } }),
    least: 0.39788735772973816,
    at: listed(([a = 0, b = 0]) => {
      const bowl = b - (5.1 / (4 * pi ** 2)) * a ** 2 + (5 / pi) * a - 6;
      return bowl ** 2 + 10 * (1 - 1 / (8 * pi)) * cos(a) + 10;
    }),
  },
  hartmann6: { space: box(0, 1, 6), least: -3.3223680114155147, at: listed(hartmann) },
  mixed: {
    space: spaceSchema.parse({
      rate: { type: "float", low: 1e-5, high: 1, log: true },
      width: { type: "int", low: 8, high: 512, log: true },
      layers: { type: "int", low: 1, high: 8 },
      dropout: { type: "float", low: 0, high: 0.8 },
      optimizer: { type: "categorical", choices: ["sgd", "momentum", "adam", "rmsprop"] },
    }),
    least: 0,
    at: mixed,
  },
};
