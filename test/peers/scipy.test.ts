import { spawnSync } from "node:child_process";
import path from "node:path";
import { fisherTail } from "../../core/drift/distributions";
import { adjustedPValues, binDistances, chiSquare, kolmogorovSmirnov, wasserstein } from "../../core/drift/measures";
import { normalDraw, uniformDraws } from "../../core/evaluation/draws";

const python = process.env["RINGMASTER_PEERS_PYTHON"] || "python3";
const probe = spawnSync(python, ["-c", "import scipy; print(scipy.__version__)"], { encoding: "utf8" });
const title =
  probe.status === 0
    ? `SciPy ${probe.stdout.trim()}`
    : `SciPy (skipped: ${python} cannot import scipy; name a Python that can in RINGMASTER_PEERS_PYTHON)`;

const draw = uniformDraws(7);
const uniform = (): number => draw() / 2 ** 32;
const whole = (below: number): number => Math.floor(uniform() * below);

/** Draws a sample: normal or with many ties, near the other one's distribution or far from it. */
function sample(rows: number, kind: number, shift: number): Float64Array {
  const value = [
    () => normalDraw(draw) + shift,
    () => Math.round(3 * normalDraw(draw) + 4 * shift),
    () => Math.exp(normalDraw(draw)) * (1 + shift),
    () => (uniform() < 0.3 ? 0 : uniform() + shift),
  ][kind]!;
  return Float64Array.from({ length: rows }, value).sort();
}

/** 500 pairs; SciPy computes the probabilities of those with more than 10,000 values by the asymptotic distribution. */
function pairs() {
  return Array.from({ length: 500 }, (_pair, index) => {
    const large = index % 25 === 0;
    const rows = () => (large ? 10_001 + whole(20_000) : 1 + whole(index % 5 === 0 ? 3_000 : 200));
    const shift = index % 3 === 0 ? 0 : uniform() ** 3;
    const categories = 1 + whole(20);
    const counts = () => Array.from({ length: categories }, () => whole(2) * whole(1_000) + 1);
    const size = rows();
    const twins = index % 4 === 0;
    return {
      baseline: sample(size, index % 4, 0),
      current: sample(twins ? size : rows(), index % 4, shift),
      baselineCounts: counts(),
      currentCounts: index % 7 === 0 ? counts().map(() => whole(3)) : counts(),
    };
  }).map((pair) => ({ ...pair, currentCounts: pair.currentCounts.map((rows, bin) => (bin === 0 ? rows + 1 : rows)) }));
}

(probe.status === 0 ? describe : describe.skip)(title, () => {
  it("gives the same distances, statistics and probabilities for 500 pairs", () => {
    const drawn = pairs();
    const adjust = Array.from({ length: 50 }, () => Array.from({ length: 1 + whole(60) }, () => uniform() ** 4));
    const input = JSON.stringify([
      ...drawn.map((pair) => ({ ...pair, baseline: [...pair.baseline], current: [...pair.current] })),
      ...adjust.map((pValues) => ({ adjust: pValues })),
    ]);
    const { stdout, stderr, status } = spawnSync(python, [path.join(__dirname, "scipy-reference.py")], {
      ...{ input, encoding: "utf8" as const, maxBuffer: 2 ** 28 },
    });
    expect([status, stderr]).toEqual([0, ""]);
    const expected = JSON.parse(stdout) as readonly Readonly<Record<string, number>>[];
    let worst: readonly [number, string] = [0, ""];
    for (const [index, { baseline, current, baselineCounts, currentCounts }] of drawn.entries()) {
      const distances = binDistances(baselineCounts, currentCounts);
      const chi = chiSquare(baselineCounts, currentCounts);
      const ks = kolmogorovSmirnov(baseline, current);
      const [a = 0, b = 0] = baselineCounts;
      const [c = 0, d = 0] = currentCounts;
      const ours: Readonly<Record<string, number>> = {
        ...{ psi: distances.psi, kl: distances.kl, js: distances.js },
        ...{ chiSquare: chi.statistic, chiSquareP: chi.pValue, ks: ks.statistic, ksP: ks.pValue },
        fisher: fisherTail(a, a + b, a + c, a + b + c + d),
        wasserstein: wasserstein(baseline, current),
      };
      for (const [name, value] of Object.entries(ours)) {
        const reference = expected[index]![name]!;
        const error = Math.abs(value - reference) / Math.max(1, Math.abs(reference));
        const allowed = name === "ksP" ? 1e-6 : 1e-9;
        if (!(error / allowed <= worst[0]))
          worst = [error / allowed, `${name} of pair ${index}: ${value}, ${reference}`];
      }
    }
    expect(worst[0] <= 1 ? "" : worst[1]).toBe("");
    for (const [index, pValues] of adjust.entries()) {
      const { adjusted } = expected[drawn.length + index] as unknown as { readonly adjusted: readonly number[] };
      for (const [at, value] of adjustedPValues(pValues).entries()) expect(value).toBeCloseTo(adjusted[at]!, 12);
    }
  });
});
