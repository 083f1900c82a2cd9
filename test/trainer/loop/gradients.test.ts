import { GenerationLostError } from "../../../trainer-container/collective/errors";
import { createDirectFeed } from "../../../trainer-container/data/direct-feed";
import { createLeafComputer } from "../../../trainer-container/loop/gradients";
import { planTraining } from "../../../trainer-container/loop/plan";
import { scoreLayout } from "../../../trainer-container/loop/score";
import { classes, features, syntheticSplit, taskOf } from "./in-process";
import { linearModel } from "./linear-model";

describe("createLeafComputer", () => {
  it("stops after the micro-batch in which the generation was lost, and starts the step again on the next call", async () => {
    const split = syntheticSplit(100);
    const plan = planTraining(taskOf(), split.rows);
    let computed = 0;
    const model = linearModel(features, classes, () => {
      computed += 1;
    });
    const feed = createDirectFeed(split, plan.sampler);
    const leaves = createLeafComputer({ model, plan, layout: scoreLayout([]), feed, now: () => 0 });
    const loss = new GenerationLostError(1, 2, "its connection closed");
    const lost = () => (computed === 2 ? loss : undefined);
    await expect(leaves.compute(0, { first: 0, end: 6 }, { lost })).rejects.toBe(loss);
    expect(computed).toBe(2);

    const again = await leaves.compute(0, { first: 0, end: 6 });
    const whole = again.map((leaf) => [...leaf]);
    expect(computed).toBe(8);
    expect((await leaves.compute(0, { first: 0, end: 6 })).map((leaf) => [...leaf])).toEqual(whole);
  });
});
