import type { Run } from "../../../core/runs/shapes";
import { failureOf } from "../../../core/training/conclusion";

const run = { phase: "ValidateDataset", dataset: { name: "digits", version: 3, digest: "d" } } as Run;

describe("the failure of a run", () => {
  it("has a function's own code and message", () => {
    const error = { Error: "INVALID_ROWS", Cause: JSON.stringify({ errorMessage: "row 7 is wrong" }) };
    expect(failureOf(error, run)).toEqual({
      code: "INVALID_ROWS",
      message: "row 7 is wrong",
      phase: "ValidateDataset",
    });
  });

  it("says where the cause is, if a function failed on a part of a large dataset", () => {
    const error = {
      Error: "States.ExceedToleratedFailureThreshold",
      Cause: "The specified tolerated failure threshold was exceeded",
    };
    expect(failureOf(error, run)).toEqual({
      code: "PART_FAILED",
      message:
        "a function failed on a part of dataset digits@3, after its retries. The failed child execution of the state machine and the function's log have the cause. Submit the run again: the results of the other parts are kept",
      phase: "ValidateDataset",
    });
  });

  it("has the state machine's own cause otherwise", () => {
    expect(failureOf({ Error: "States.Timeout", Cause: "" }, run).code).toBe("States.Timeout");
    expect(failureOf(undefined, run).code).toBe("UNKNOWN");
  });
});
