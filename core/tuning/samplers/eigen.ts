const maxSweeps = 60;

/**
 * Returns eigenvalues and eigenvectors (columns) of a symmetric matrix, by cyclic Jacobi rotations (Golub and Van Loan,
 * "Matrix computations", 8.5). Eigenvalues are at least 1e-20 times the largest, so that their roots can be inverted.
 */
export function eigenOf(matrix: readonly (readonly number[])[]) {
  const n = matrix.length;
  const a = matrix.map((row) => [...row]);
  const v = matrix.map((_, i) => matrix.map((_, j) => (i === j ? 1 : 0)));
  for (let sweep = 0; sweep < maxSweeps && offDiagonal(a) > 1e-30 * trace(a) ** 2; sweep += 1) {
    for (let p = 0; p < n; p += 1) for (let q = p + 1; q < n; q += 1) rotate(a, v, p, q);
  }
  const values = a.map((row, i) => row[i] as number);
  const least = 1e-20 * Math.max(...values, 1e-200);
  return { values: values.map((value) => Math.max(value, least)), vectors: v };
}

function rotate(a: number[][], v: number[][], p: number, q: number): void {
  const [rowP, rowQ] = [a[p] as number[], a[q] as number[]];
  const apq = rowP[q] as number;
  if (apq === 0) return;
  const theta = ((rowQ[q] as number) - (rowP[p] as number)) / (2 * apq);
  const t = Math.sign(theta || 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const c = 1 / Math.sqrt(t * t + 1);
  const s = t * c;
  for (const row of a)
    [row[p], row[q]] = [
      c * (row[p] as number) - s * (row[q] as number),
      s * (row[p] as number) + c * (row[q] as number),
    ];
  for (let i = 0; i < a.length; i += 1) {
    const [x, y] = [rowP[i] as number, rowQ[i] as number];
    rowP[i] = c * x - s * y;
    rowQ[i] = s * x + c * y;
  }
  for (const row of v)
    [row[p], row[q]] = [
      c * (row[p] as number) - s * (row[q] as number),
      s * (row[p] as number) + c * (row[q] as number),
    ];
}

function offDiagonal(a: readonly (readonly number[])[]): number {
  return a.reduce((sum, row, i) => sum + row.reduce((all, x, j) => (i === j ? all : all + x * x), 0), 0);
}

function trace(a: readonly (readonly number[])[]): number {
  return a.reduce((sum, row, i) => sum + (row[i] as number), 0);
}
