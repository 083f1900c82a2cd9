import type { SequentialPlan } from "../../core/registry/serving/shapes";
import { parseOptions } from "../support/arguments";
import { startReport } from "../support/report";
import { markdownTable } from "../support/table";
import { fixedTest, type Judge, mixtureTest, peekedTest, type Scenario, simulate } from "./simulate";

const plan: SequentialPlan = {
  metric: "conversion",
  kind: "binary",
  goal: "increase",
  margin: 0,
  alpha: 0.05,
  effect: 0.03,
  minUnits: 100,
  act: "advise",
};
const trials = 2_000;
const seed = 20_260_101;

const rate = (probability: number) => (uniform: () => number) => (uniform() < probability ? 1 : 0);
/** Log-normal, mean e^0.5, like spent money with a long tail. */
const spent = (factor: number) => (uniform: () => number) =>
  factor * Math.exp(Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform()));

const binary = (
  name: string,
  champion: number,
  canary: number,
  weight: number,
  more: Partial<SequentialPlan> = {},
) => ({
  name,
  plan: { ...plan, ...more },
  weight,
  champion: rate(champion),
  canary: rate(canary),
  horizon: 20_000,
});

const scenarios: readonly Scenario[] = [
  binary("10 % and 10 %, half and half", 0.1, 0.1, 0.5),
  binary("10 % and 10 %, canary 5 %", 0.1, 0.1, 0.05),
  binary("2 % and 2 %, canary 10 %", 0.02, 0.02, 0.1),
  binary("50 % and 50 %, canary 10 %", 0.5, 0.5, 0.1),
  {
    name: "log-normal, equal, canary 10 %",
    plan: { ...plan, kind: "mean", effect: 0.3 },
    weight: 0.1,
    champion: spent(1),
    canary: spent(1),
    horizon: 20_000,
  },
  binary("at the margin: 10 % and 8 %, margin 2 %, canary 10 %", 0.1, 0.08, 0.1, { margin: 0.02 }),
  binary("10 % and 13 %, half and half", 0.1, 0.13, 0.5),
  binary("10 % and 13 %, canary 10 %", 0.1, 0.13, 0.1),
  binary("10 % and 7 %, canary 10 %", 0.1, 0.07, 0.1),
  binary("10 % and 5 %, canary 5 %", 0.1, 0.05, 0.05),
  binary("equal 10 %, margin 3 %, half and half", 0.1, 0.1, 0.5, { margin: 0.03 }),
];

const tests: readonly { readonly name: string; readonly judge: (plan: SequentialPlan) => Judge }[] = [
  { name: "mSPRT", judge: mixtureTest },
  { name: "z-test at each look", judge: peekedTest },
  { name: "z-test at the end", judge: fixedTest },
];

/** Measures error rates and power of the canary test, next to other methods, over simulated units. */
export async function benchSequential(args: readonly string[]): Promise<void> {
  const report = startReport(parseOptions(args, {}).json);
  const results = scenarios.flatMap((scenario) =>
    tests.map(({ name, judge }) => ({
      scenario: scenario.name,
      test: name,
      ...simulate(scenario, judge(scenario.plan), trials, seed),
    })),
  );
  const percent = (part: number): string => `${(100 * part).toFixed(1)} %`;
  report(
    { plan, trials, results },
    `${trials} simulated canaries a line, up to 20,000 units, a look after each 20; alpha ${plan.alpha}, effect ${plan.effect}.`,
    "",
    markdownTable(
      ["champion and canary", "test", "promoted", "rolled back", "undecided", "median units to a decision"],
      results.map(({ scenario, test, promoted, rolledBack, undecided, medianUnits }) => [
        ...[scenario, test, percent(promoted), percent(rolledBack), percent(undecided), String(medianUnits)],
      ]),
    ),
  );
}
