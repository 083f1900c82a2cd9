import { normalCdf, normalPdf } from "./normal";

const logRoot2Pi = 0.5 * Math.log(2 * Math.PI);

/**
 * Returns the logarithm of the expected improvement of a standard normal variable over `-z`: log(z Φ(z) + φ(z)). Far
 * below zero, where the sum cancels, it is the asymptotic series.
 */
export function logExpectedImprovement(z: number): number {
  if (z < -5) return -0.5 * z * z - logRoot2Pi - 2 * Math.log(-z);
  return Math.log(z * normalCdf(z) + normalPdf(z));
}
