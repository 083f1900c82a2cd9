import type { Template } from "aws-cdk-lib/assertions";
import { idleCostOf } from "../../../infra/cost/idle";
import { renderIdle } from "../../../infra/cost/render";
import { ComputeStack } from "../../../infra/stacks/compute-stack";
import { resourcesOf } from "../evaluated";
import { synthesizeStack } from "../synthesized";
import { defaults, stacksOf } from "./platforms";

const costOf = (templates: readonly Template[]) =>
  idleCostOf(Object.fromEntries(templates.map((template, i) => [i, { Resources: resourcesOf(template) }])));
const compute = (mode: "public" | "private") =>
  synthesizeStack(
    { network: { mode } },
    (app, config) => new ComputeStack(app, "Compute", { config, trainerImage: () => "registry.example.com/trainer:1" }),
  ).template;

it("an idle month costs less than $10 with the defaults, and about a NAT gateway more in a private network", () => {
  const cost = costOf(stacksOf(defaults()).map((name) => defaults().template(name)));
  expect(cost.usdAMonth).toBeLessThan(10);
  expect(renderIdle(cost, "2026-06-17")).toContain(
    `$${cost.usdAMonth.toFixed(2)}  in all; the other ${cost.free} resources`,
  );
  const [open, closed] = [costOf([compute("public")]), costOf([compute("private")])];
  expect(closed.usdAMonth - open.usdAMonth).toBeCloseTo(32.85 + 3.65, 10);
});
