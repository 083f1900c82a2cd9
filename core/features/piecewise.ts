import type { FeatureOutput } from "./shapes";

/**
 * Piecewise linear encoding of a number (Gorishniy et al., On Embeddings for Numerical Features in Tabular Deep Learning,
 * 2022). A dense layer after it can bend at each boundary, so it learns a step or a peak in few epochs.
 */
export type Piecewise = Extract<FeatureOutput, { readonly kind: "piecewise" }>;
type Pieces = Pick<Piecewise, "boundaries" | "means" | "scale">;

/** Maximum number of pieces of all columns together. It bounds the width, and so the time of a step. */
const maxPieces = 128;
const scale = 0.5;
/** Minimum number of training rows of a piece. */
const rowsPerPiece = 32;

export function piecesOf(wanted: number, columns: number): number {
  return Math.min(wanted, Math.floor(maxPieces / columns));
}

/**
 * Returns boundaries between which about equally many numbers lie, and the mean of each piece; `undefined` if there are
 * fewer than two pieces. A frequent number is a boundary, and the others are divided again. With the scale, all pieces
 * of a column have together about as much variance as its number.
 *
 * @param sorted a sample of the training rows, in ascending order
 * @param rows number of training rows with a number
 */
export function fitPieces(sorted: Float64Array, rows: number, wanted: number): Pieces | undefined {
  const boundaries = boundariesOf(sorted, Math.min(wanted, Math.floor(rows / rowsPerPiece)));
  if (boundaries.length < 3) return undefined;
  const means = new Float64Array(boundaries.length - 1);
  for (const number of sorted) {
    for (let i = 0; i < means.length; i += 1) means[i]! += pieceOf(number, boundaries, i) / sorted.length;
  }
  return { boundaries, means: [...means], scale };
}

function boundariesOf(sorted: Float64Array, pieces: number): readonly number[] {
  const last = sorted.length - 1;
  const boundaries: number[] = [];
  let [left, parts, filled] = [sorted.length, pieces, 0];
  for (const [index, number] of sorted.entries()) {
    filled += 1;
    if (index < last && sorted[index + 1] === number) continue;
    const full = filled * parts >= left;
    const first = boundaries.length === 0;
    if (!first && index < last && (!full || parts === 1)) continue;
    boundaries.push(number);
    if (!full) continue;
    left -= filled;
    filled = 0;
    if (!first) parts -= 1;
  }
  return boundaries;
}

/** Computes how far a number is from boundary `index` to the next one, limited to 0 … 1. */
function pieceOf(number: number, boundaries: readonly number[], index: number): number {
  const [low, high] = [boundaries[index]!, boundaries[index + 1]!];
  return Math.min(1, Math.max(0, (number - low) / (high - low)));
}

/** Writes the pieces of a standardised number, rounded to float32. */
export function writePieces(
  number: number,
  { boundaries, means, scale }: Pieces,
  into: Float32Array,
  at: number,
): void {
  for (let i = 0; i < means.length; i += 1) into[at + i] = (pieceOf(number, boundaries, i) - means[i]!) * scale;
}
