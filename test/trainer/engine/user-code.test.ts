import { ModelError } from "../../../trainer-container/engine/errors";
import { callUserCode, withTimeLimit } from "../../../trainer-container/engine/user-code";

describe("calls of user code", () => {
  it("return and throw as without a time limit, also inside each other", () => {
    expect(callUserCode("loss()", () => callUserCode("metric 'a'", () => 3) + 1)).toBe(4);
    const fail = () => {
      throw new TypeError("on purpose");
    };
    expect(() => callUserCode("loss()", fail)).toThrow(ModelError);
    expect(() => callUserCode("loss()", fail)).toThrow("loss() threw TypeError: on purpose");
    expect(() => callUserCode("loss()", () => callUserCode("metric 'a'", fail))).toThrow(/loss\(\) threw/);
  });

  it("end a loop that does not end", () => {
    const endless = () => {
      for (;;);
    };
    expect(() => withTimeLimit(endless, 50)).toThrow("it did not return within 0.05 s; does a loop in it not end?");
    expect(withTimeLimit(() => 5, 50)).toBe(5);
  });
});
