import type { DatasetManifest } from "../datasets/manifest";
import type { Model } from "../registry/model";
import { type PolicyRules, rulesOf } from "../registry/policy";
import type { Job } from "../runs/job";

/** As `evaluation.slices` has it. */
const mostColumns = 64;

/**
 * The job with every column in `evaluation.slices` that a gate of its own or of its model's policy will cut the test split by: slices are made with the features,
 * long before the gates are asked. A policy's column that this dataset lacks is left to the gate, which says so.
 */
export function withJudgedSlices(
  job: Job,
  manifest: Pick<DatasetManifest, "schema">,
  model: Pick<Model, "policy"> | undefined,
): Job {
  const { slices, gates } = job.evaluation;
  const sliceable = new Set(
    manifest.schema
      .filter(({ type }) => type === "int" || type === "string" || type === "bool")
      .map(({ name }) => name),
  );
  const asked = [...columnsOf(gates), ...columnsOf(model && rulesOf(model)).filter((column) => sliceable.has(column))];
  const all = [...new Set([...slices, ...asked])].slice(0, mostColumns);
  return all.length === slices.length ? job : { ...job, evaluation: { ...job.evaluation, slices: all } };
}

function columnsOf(gates: Pick<PolicyRules, "slices" | "fairness"> | undefined): readonly string[] {
  return [...(gates?.slices ?? []), ...(gates?.fairness ?? [])].map(({ column }) => column);
}
