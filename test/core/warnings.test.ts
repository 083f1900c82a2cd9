import { warningsOf } from "../../core/shapes";

describe("the warnings of a step's output", () => {
  it("are those that have a code and a message, whatever else the output holds", () => {
    const warning = { code: "LEAKAGE", message: "x equals the label" };
    expect(warningsOf({ warnings: [null, "text", { code: 1, message: "no code" }, { ...warning, more: 1 }] })).toEqual([
      warning,
    ]);
  });

  it.each([undefined, null, {}, { warnings: "text" }])("of %j are none", (output) => {
    expect(warningsOf(output)).toEqual([]);
  });
});
