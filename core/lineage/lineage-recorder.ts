import type { RunRecords } from "../tracking/run-records";
import type { LineageIndex } from "./port";

/**
 * Wraps run records so that lineage is recorded from the data's side, too. It is written after the record, and again by
 * any later change. If a writer dies in between, the client's repetition writes it.
 */
export function recordLineage(records: RunRecords, lineage: Pick<LineageIndex, "noteInputs">): RunRecords {
  return {
    ...records,
    async create(record, options) {
      const made = await records.create(record, options);
      await lineage.noteInputs(made.record.runId, made.record.datasets);
      return made;
    },
    async change(runId, transition) {
      const record = await records.change(runId, transition);
      // A training run's own data were recorded with the run.
      await lineage.noteInputs(runId, record.datasets.slice(record.source === "training" ? 1 : 0));
      return record;
    },
  };
}
