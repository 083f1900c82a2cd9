import type { DatasetManifest } from "../datasets/manifest";
import type { Model } from "../registry/model";
import { type PolicyRules, rulesOf } from "../registry/policy";
import type { Job } from "../runs/job";

/** The limit of `evaluation.slices`. */
const maxColumns = 64;

/**
 * Returns the job with every column in `evaluation.slices` that a gate of its own or of its model's policy needs.
 * Slices are computed with the features, long before the gates. A policy's column that this dataset lacks is left to
 * the gate, which reports it.
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
  const needed = [...columnsOf(gates), ...columnsOf(model && rulesOf(model)).filter((column) => sliceable.has(column))];
  const all = [...new Set([...slices, ...needed])].slice(0, maxColumns);
  return all.length === slices.length ? job : { ...job, evaluation: { ...job.evaluation, slices: all } };
}

function columnsOf(gates: Pick<PolicyRules, "slices" | "fairness"> | undefined): readonly string[] {
  return [...(gates?.slices ?? []), ...(gates?.fairness ?? [])].map(({ column }) => column);
}
