import { validationKind } from "../../core/datasets/contract/report";
import { evaluationKind } from "../../core/evaluation/shapes";
import { featuresKind } from "../../core/features/shapes";
import { gateKind } from "../../core/registry/gates/verdict";
import { registrationKind } from "../../core/registry/model";
import type { StepRecord } from "../../core/runs/shapes";
import { trainingKind } from "../../core/runs/training-task";
import type { Warning } from "../../core/shapes";

const kinds = [validationKind, featuresKind, trainingKind, evaluationKind, registrationKind, gateKind];

/** Returns the records that can be read, and the warnings: those of the steps, and one for each other record. */
export function readSteps(records: readonly StepRecord[]): {
  readonly steps: readonly StepRecord[];
  readonly warnings: readonly Warning[];
} {
  const read = records.map((record) => {
    const kind = kinds.find(({ step }) => step === record.step);
    return { record, output: kind?.output.safeParse(record.output).data };
  });
  return {
    steps: read.flatMap(({ record, output }) => (output ? [record] : [])),
    warnings: read.flatMap(({ record: { step }, output }) => {
      if (output) return "warnings" in output ? (output.warnings ?? []) : [];
      const message = `the record of ${step} cannot be read: the run is shown without it`;
      return [{ code: "STEP_UNREADABLE", message }];
    }),
  };
}
