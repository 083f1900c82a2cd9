import type { Logger } from "../../core/logging";
import type { Warning } from "../../core/shapes";
import type { EngineOptions } from "../engine/engine";
import { userFrame } from "./module-source";

/** Reports how the engine computes the model's passes, and what users should change: in the log, and as warnings of the run. */
export function executionReport(logger: Logger) {
  const warnings: Warning[] = [];
  const warn = (code: string, message: string): void => {
    logger.log("warn", message);
    warnings.push({ code, message });
  };
  const onExecution: NonNullable<EngineOptions["onExecution"]> = (execution) => {
    if (execution.engine === "graph") {
      const { pass, operations, rematerialised, ms } = execution;
      const again = rematerialised === undefined ? {} : { rematerialisedSegments: rematerialised };
      logger.log("info", `computing ${pass} as one graph`, { operations, ms: Math.round(ms), ...again });
      if (rematerialised === 0) logger.log("warn", "rematerialise has no effect: the gradient would have other bits");
      return;
    }
    const { pass, reason, declined } = execution;
    const place = userFrame(reason);
    logger.log("warn", `computing ${pass} operation by operation, which is slower`, {
      reason: `the model cannot be a graph: ${reason.message}`,
      ...(place === undefined ? {} : { place }),
    });
    if (pass !== "gradients" || declined) return;
    const at = place === undefined ? "" : ` (at ${place})`;
    const message = `gradients were computed operation by operation, which is slower, because the model cannot be a graph: ${reason.message}${at}`;
    warnings.push({ code: "MODEL_WITHOUT_GRAPH", message });
  };
  const onChangingModel = () => {
    const message =
      "model, loss or metrics depend on a state that changes between calls, such as a counter or the time, so the weights depend on " +
      "the number of workers and on interruptions: compute them from their arguments, Math.random and tf's random operations alone";
    warn("MODEL_CHANGES", message);
  };
  const onKeptTensors = (functions: readonly string[]) =>
    warn(
      "TENSORS_KEPT",
      `the training module leaves tensors behind in each call of ${functions.join(", ")}, by tf.keep or tf.variable, so the memory ` +
        "of each worker grows with every step: create such a tensor once, at the module's top level, or remove tf.keep",
    );
  return { warnings: warnings as readonly Warning[], warn, onExecution, onChangingModel, onKeptTensors };
}
