import type { ChampionComparison } from "../../../../core/evaluation/shapes";
import { gateStep } from "../../../../core/registry/gates/step";
import type { Phase } from "../../../../core/runs/run-states";
import type { RunDetails } from "../../../../core/runs/shapes";
import { createTestPlatform, useEmbedded } from "../../../support/embedded";
import { runOf } from "../../../support/fixtures";
import { promoteJudged, versionOfRun } from "../../../support/registry";

const by = { by: "test", at: "2026-01-01T00:00:00.000Z" };
const content = { sha256: "0".repeat(64), bytes: 1 };
const comparison = (champion: number, gain: number): ChampionComparison => ({
  ...{ kind: "compared", champion, metric: "accuracy", candidateValue: 0.95, championValue: 0.95 - gain },
  ...{ championPredictions: content, difference: gain, lower: gain - 0.01, upper: gain + 0.01 },
  ...{ confidence: 0.95, rows: 1_000, resamples: 2_000, seed: 1 },
});

describe("the gates' step", () => {
  const embedded = useEmbedded();

  async function setup(team: string, weights: readonly string[], champions: readonly number[]) {
    const { platform } = createTestPlatform(embedded);
    const { registry } = platform.forTeam(team);
    for (const [index, weightsSha256] of weights.entries())
      await registry.register(team, { ...versionOfRun("digits", `run-${index}`), weightsSha256 }, by);
    for (const version of champions) await promoteJudged(registry, "digits", version);
    const step = gateStep({ ...platform.forTeam(team), timeModel: async () => undefined });
    const judge = (version: number, met?: ChampionComparison) => {
      const record = (name: Phase, output: unknown) => ({ step: name, output });
      const evaluation = { report: content, task: "balanced", metrics: { accuracy: 0.95 } };
      const run = runOf(`run-${version - 1}`, { team });
      const steps = [
        record("Evaluate", { ...evaluation, ...(met ? { comparison: met } : {}) }),
        record("Register", { model: "digits", version }),
      ];
      return step.execute(run, { run, steps } as unknown as RunDetails, "hash");
    };
    return { judge, registry };
  }

  it("keeps the verdict, with the interval that it rests on", async () => {
    const { judge, registry } = await setup("a", ["w1", "w2"], [1]);
    expect(await judge(2, comparison(1, -0.05))).toMatchObject({
      passed: false,
      reasons: [expect.stringContaining("-0.05, 95 % CI [-0.06, -0.04]; regression")],
    });
    const { gate, stage } = await registry.version("digits", 2);
    expect(gate).toMatchObject({
      champion: 1,
      passed: false,
      checks: [{ gate: "threshold" }, { interval: { rows: 1_000, seed: 1 } }],
    });
    expect(stage).toBe("none");
    expect(await judge(2, comparison(1, 0.02))).toMatchObject({ passed: true });
    expect((await registry.version("digits", 2)).stage).toBe("staging");
  });

  it.each<[string, readonly number[], ChampionComparison | undefined]>([
    ["another version was promoted since", [1, 2], comparison(1, 0.02)],
    ["the first one was promoted since", [1], undefined],
  ])("sends the run back to its evaluation where %s", async (what, champions, met) => {
    const { judge, registry } = await setup(what.replaceAll(" ", "-").slice(0, 31), ["w1", "w2", "w3"], champions);
    await expect(judge(3, met)).rejects.toMatchObject({ code: "CHAMPION_CHANGED" });
    expect((await registry.version("digits", 3)).gate).toBeUndefined();
  });

  it("has nothing to compare where there is no champion, or the weights are the champion's", async () => {
    const { judge } = await setup("c", ["w1", "w1"], []);
    expect(await judge(1)).toMatchObject({ passed: true });
    const same = await setup("d", ["w1", "w1"], [1]);
    expect(await same.judge(2)).toMatchObject({ passed: true });
  });
});
