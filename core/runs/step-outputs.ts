import type * as z from "zod";
import { validationOutput } from "../datasets/contract/report";
import { evaluationOutput } from "../evaluation/shapes";
import { featuresOutput } from "../features/shapes";
import { gateOutput } from "../registry/gates/verdict";
import { registrationOutput } from "../registry/model";
import type { Shape, Warning } from "../shapes";
import type { Phase } from "./run-states";
import type { StepRecord } from "./shapes";
import { trainingOutput } from "./training-task";

const schemas = {
  ValidateDataset: validationOutput,
  PrepareFeatures: featuresOutput,
  LaunchTraining: trainingOutput,
  Evaluate: evaluationOutput,
  Register: registrationOutput,
  Gate: gateOutput,
} satisfies Record<Phase, z.ZodType>;

/** Output of each step of a run. */
export type StepOutputs = { readonly [Step in Phase]: Shape<(typeof schemas)[Step]> };

const readers: { readonly [Step in Phase]: z.ZodType<StepOutputs[Step]> } = schemas;

/** Reads a stored output; `undefined` for one that is not as the step records it, e.g. by a module of the user. */
export function readOutput<Step extends Phase>(step: Step, output: unknown): StepOutputs[Step] | undefined {
  return Object.hasOwn(readers, step) ? readers[step].safeParse(output).data : undefined;
}

/** Returns the records that can be read, and the warnings: those of the steps, and one for each other record. */
export function readSteps(records: readonly StepRecord[]): {
  readonly steps: readonly StepRecord[];
  readonly warnings: readonly Warning[];
} {
  const read = records.map((record) => ({ record, output: readOutput(record.step, record.output) }));
  return {
    steps: read.flatMap(({ record, output }) => (output ? [record] : [])),
    warnings: read.flatMap(({ record: { step }, output }) => {
      if (output) return "warnings" in output ? (output.warnings ?? []) : [];
      const message = `the record of ${step} cannot be read: the run is shown without it`;
      return [{ code: "UNREADABLE_STEP", message }];
    }),
  };
}
