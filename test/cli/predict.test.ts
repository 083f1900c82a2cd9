import { assertFinite } from "../../cli/predict";

describe("assertFinite", () => {
  it("names the rows whose outputs are not finite", () => {
    expect(() => assertFinite(Float32Array.of(0.5, 0.5, 1, 0), 2)).not.toThrow();
    expect(() => assertFinite(Float32Array.of(0.5, 0.5, Number.NaN, 1, Infinity, 0), 3)).toThrow(
      /the rows cannot be predicted.*rows\[1\] .*no finite prediction.*rows\[2\] /s,
    );
  });
});
