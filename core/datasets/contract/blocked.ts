import * as z from "zod";
import { digestOf } from "../../digest";
import { type ContractReport, describeViolation, shownViolations } from "./report";

const maxViolations = 20;

/**
 * The event that a data contract blocked rows. A repetition has the same id and time. It has no values of rows, because
 * receivers may be outside of the team.
 */
export const dataContractBlockedSchema = z.object({
  id: z.string(),
  type: z.literal("data-contract.blocked"),
  /** Time of the check. ISO 8601. */
  at: z.string(),
  team: z.string(),
  dataset: z.string(),
  /** The version; absent if the rows did not become one. */
  version: z.int().optional(),
  revision: z.int(),
  source: z.enum(["push", "inbox", "run"]),
  runId: z.string().optional(),
  file: z.string().optional(),
  rows: z.int(),
  /** Number of violated rules that block. */
  blocking: z.int(),
  violations: z.array(z.string()),
});
export type DataContractBlocked = z.infer<typeof dataContractBlockedSchema>;

/** The port to EventBridge. */
export interface DataContractEvents {
  /** Resolves when the event was accepted. */
  publishDataContractBlocked(event: DataContractBlocked): Promise<void>;
}

export function dataContractBlocked(
  report: Pick<ContractReport, "outcomes" | "rows" | "at" | "dataset"> & { readonly revision: number },
  origin: Pick<DataContractBlocked, "team" | "dataset" | "source" | "runId" | "file">,
): DataContractBlocked {
  const shown = shownViolations(report);
  const { digest, version } = report.dataset;
  const identity = digestOf({ ...origin, digest, version, revision: report.revision, at: report.at });
  return {
    id: `data-contract-blocked-${identity.slice(0, 32)}`,
    type: "data-contract.blocked",
    at: report.at,
    ...origin,
    version,
    revision: report.revision,
    rows: report.rows,
    blocking: shown.filter(({ severity }) => severity === "block").length,
    violations: shown
      .slice(0, maxViolations)
      .map((outcome) => describeViolation({ ...outcome, samples: [] }, report.rows).slice(0, 300)),
  };
}
