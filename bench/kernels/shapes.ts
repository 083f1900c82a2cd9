/** A product C = A · B, `m` × `k` by `k` × `n`. A or B may be stored transposed, as for gradients. */
export interface Shape {
  readonly name: string;
  readonly m: number;
  readonly k: number;
  readonly n: number;
  readonly transposeA: boolean;
  readonly transposeB: boolean;
}

/** Returns the forward product, the kernel's gradient and the input's gradient of a dense layer. */
function dense(layer: string, rows: number, inputs: number, units: number): readonly Shape[] {
  const of = (what: string, m: number, k: number, n: number, transposeA: boolean, transposeB: boolean): Shape => ({
    name: `${layer}, ${rows} rows: ${what}`,
    ...{ m, k, n, transposeA, transposeB },
  });
  return [
    of("forward", rows, inputs, units, false, false),
    of("kernel's gradient", inputs, rows, units, true, false),
    of("input's gradient", rows, units, inputs, false, true),
  ];
}

/** The MLP's larger layers at microshards of 128 and 16 rows, the CNN's dense layer, and a square. */
export const shapes: readonly Shape[] = [
  ...dense("784 → 512", 128, 784, 512),
  ...dense("512 → 256", 128, 512, 256),
  ...dense("784 → 512", 16, 784, 512),
  ...dense("784 → 64", 128, 784, 64),
  { name: "square", m: 512, k: 512, n: 512, transposeA: false, transposeB: false },
];

export const operations = ({ m, k, n }: Shape): number => 2 * m * k * n;
