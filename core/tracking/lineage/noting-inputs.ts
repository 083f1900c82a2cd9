import type { RunRecords } from "../run-records";
import type { LineageIndex } from "./port";

/**
 * Records whose data are found again from the data's side, too. Noted behind the record, and again by any later change in another process: a writer that dies in between leaves it
 * to the client's repetition.
 */
export function notingInputs(records: RunRecords, lineage: Pick<LineageIndex, "noteInputs">): RunRecords {
  return {
    ...records,
    async create(record, options) {
      const made = await records.create(record, options);
      await lineage.noteInputs(made.record.runId, made.record.datasets);
      return made;
    },
    async change(runId, transition) {
      const record = await records.change(runId, transition);
      // A training run's own data were noted with the run.
      await lineage.noteInputs(runId, record.datasets.slice(record.source === "training" ? 1 : 0));
      return record;
    },
  };
}
