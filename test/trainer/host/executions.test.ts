import type { Logger } from "../../../core/logging";
import { executionReport } from "../../../trainer-container/host/prepare-training";

describe("the report of how a model is computed", () => {
  const lines: unknown[] = [];
  const logger: Logger = { log: (...line) => void lines.push(line), with: () => logger };
  beforeEach(() => {
    lines.length = 0;
  });

  it("warns of gradients without a graph, with the line", () => {
    const { warnings, onExecution } = executionReport(logger);
    const reason = new Error("it reads a value in the middle");
    reason.stack = `Error: ${reason.message}\n    at loss (/ringmaster-module/model.ts:12:9)`;
    for (const pass of ["gradients", "evaluation"] as const) onExecution({ pass, engine: "tape", reason });
    expect(warnings).toEqual([
      {
        code: "MODEL_WITHOUT_GRAPH",
        message: expect.stringMatching(
          /^gradients were computed operation by operation, .*because .*: it reads a value in the middle/,
        ),
      },
    ]);
    expect(lines).toHaveLength(2);
  });

  it("warns of a model that depends on a changing state", () => {
    const { warnings, onChangingModel } = executionReport(logger);
    onChangingModel();
    expect(warnings).toEqual([{ code: "MODEL_CHANGES", message: expect.stringMatching(/the number of workers/) }]);
    expect(lines).toHaveLength(1);
  });

  it("warns of functions that leave tensors behind", () => {
    const { warnings, onKeptTensors } = executionReport(logger);
    onKeptTensors(["loss()", "metric 'mine'"]);
    const message = expect.stringMatching(
      /each call of loss\(\), metric 'mine', .*memory of each worker grows.*remove tf\.keep/,
    );
    expect(warnings).toEqual([{ code: "TENSORS_KEPT", message }]);
    expect(lines).toEqual([["warn", message]]);
  });

  it("warns neither of a graph nor of a module that declines one", () => {
    const { warnings, onExecution } = executionReport(logger);
    onExecution({ pass: "gradients", engine: "graph", operations: 3, ms: 1 });
    const reason = new Error("graph is false in defineTraining");
    onExecution({ pass: "gradients", engine: "tape", reason, declined: true });
    expect(warnings).toEqual([]);
    expect(lines).toEqual([
      ["info", "computing gradients as one graph", { operations: 3, ms: 1 }],
      ["warn", expect.any(String), expect.any(Object)],
    ]);
  });
});
