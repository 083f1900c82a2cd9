import {
  goodStepsToDouble,
  initialLossScale,
  type LossScale,
  maxLossScale,
  minLossScale,
  nextLossScale,
} from "../../../trainer-container/loop/replica";

describe("the loss scale", () => {
  it("halves with each step that overflowed, and counts it", () => {
    const once = nextLossScale({ scale: 1024, goodSteps: 17, skipped: 2 }, false);
    expect(once).toEqual({ scale: 512, goodSteps: 0, skipped: 3 });
    expect(nextLossScale(once!, false)).toEqual({ scale: 256, goodSteps: 0, skipped: 4 });
  });

  it("doubles after so many good steps in a row", () => {
    let state: LossScale | undefined = initialLossScale;
    for (let step = 1; step < goodStepsToDouble; step++) state = nextLossScale(state!, true);
    expect(state).toEqual({ ...initialLossScale, goodSteps: goodStepsToDouble - 1 });
    expect(nextLossScale(state!, true)).toEqual({ ...initialLossScale, scale: initialLossScale.scale * 2 });
  });

  it("stays within its bounds, and gives up where the least does not help", () => {
    const atTop = { scale: maxLossScale, goodSteps: goodStepsToDouble - 1, skipped: 0 };
    expect(nextLossScale(atTop, true)?.scale).toBe(maxLossScale);
    const above = { scale: minLossScale * 2, goodSteps: 0, skipped: 0 };
    expect(nextLossScale(above, false)?.scale).toBe(minLossScale);
    expect(nextLossScale({ ...above, scale: minLossScale }, false)).toBeUndefined();
  });
});
