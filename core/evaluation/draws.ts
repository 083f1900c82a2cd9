/**
 * Generates whole numbers below 2^32, uniformly: sfc32 (Doty-Humphrey, PractRand), with a period of about 2^127. A
 * function of its seed.
 */
export function uniformDraws(seed: number): () => number {
  let a = 0;
  let b = 0x1e3779b9;
  let c = seed | 0;
  let counter = 1;
  const draw = (): number => {
    const out = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + out) | 0;
    return out >>> 0;
  };
  // The first draws only mix in the seed.
  for (let at = 0; at < 12; at += 1) draw();
  return draw;
}

const { cos, log, sqrt } = Math;
const fullTurn = 2 * Math.PI;

/** Draws from the standard normal distribution (Box and Muller, 1958). */
export function normalDraw(draw: () => number): number {
  const radius = sqrt(-2 * log((draw() + 1) / 4_294_967_296));
  return radius * cos((fullTurn * draw()) / 4_294_967_296);
}

export function quantile(sorted: Float64Array, probability: number): number {
  const at = probability * (sorted.length - 1);
  const below = Math.floor(at);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below]! + (at - below) * (sorted[above]! - sorted[below]!);
}
