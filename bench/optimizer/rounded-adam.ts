/** Adam in other arithmetics, to compare them with the product's: the same formula, rounded elsewhere or not at all. */

type Values = Float32Array | Float64Array;

export interface AdamStep {
  readonly step: number;
  readonly learningRate: number;
  readonly weightDecay: number;
}

export interface AdamVariant {
  readonly weights: Values;
  step(gradients: Values, options: AdamStep): void;
}

const [beta1, beta2, epsilon] = [0.9, 0.999, 1e-8];

function constants({ step, learningRate, weightDecay }: AdamStep) {
  return {
    rate: learningRate / (1 - beta1 ** step),
    root: 1 / Math.sqrt(1 - beta2 ** step),
    shrink: 1 - learningRate * weightDecay,
  };
}

/** Runs every operation in double precision, and rounds stored values to `storage`. With float64 storage it is the reference. */
export function doubleAdam(storage: () => Values): AdamVariant {
  const [weights, m, v] = [storage(), storage(), storage()];
  return {
    weights,
    step(gradients, options) {
      const { rate, root, shrink } = constants(options);
      for (let i = 0; i < weights.length; i++) {
        const g = gradients[i] as number;
        const mean = beta1 * (m[i] as number) + (1 - beta1) * g;
        const square = beta2 * (v[i] as number) + (1 - beta2) * g * g;
        m[i] = mean;
        v[i] = square;
        weights[i] = (weights[i] as number) * shrink - (rate * mean) / (Math.sqrt(square) * root + epsilon);
      }
    },
  };
}

/** Runs every operation in float32, with moments as β·m + (1 − β)·g, as in the paper. */
export function plainAdam(size: number): AdamVariant {
  const f = Math.fround;
  const [weights, m, v] = [new Float32Array(size), new Float32Array(size), new Float32Array(size)];
  return {
    weights,
    step(gradients, options) {
      const { rate, root, shrink } = constants(options);
      for (let i = 0; i < weights.length; i++) {
        const g = f(gradients[i] as number);
        const mean = f(f(f(beta1) * (m[i] as number)) + f(f(1 - beta1) * g));
        const square = f(f(f(beta2) * (v[i] as number)) + f(f(1 - beta2) * f(g * g)));
        m[i] = mean;
        v[i] = square;
        const divisor = f(f(f(Math.sqrt(square)) * f(root)) + f(epsilon));
        weights[i] = f(f((weights[i] as number) * f(shrink)) - f(f(f(rate) * mean) / divisor));
      }
    },
  };
}
