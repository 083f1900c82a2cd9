import type { Job } from "../../runs/job";

/**
 * Fields of a job that are not parameters: its experiment, its inputs (which the record has as inputs), and people's
 * notes.
 */
const others: ReadonlySet<string> = new Set(["experiment", "dataset", "registerAs", "tags", "notes"]);

/**
 * Returns a job's leaves by dotted path: `hyperparameters.learningRate` → `0.001`. Texts are unchanged, other values
 * are JSON; arrays and empty objects are leaves.
 */
export function paramsOfJob(job: { readonly [Field in keyof Job]: unknown }): Readonly<Record<string, string>> {
  const params: Record<string, string> = {};
  for (const [key, value] of Object.entries(job)) if (!others.has(key)) addLeaves(params, key, value);
  return params;
}

function addLeaves(params: Record<string, string>, path: string, value: unknown): void {
  if (value === undefined) return;
  if (typeof value === "string") params[path] = value;
  else if (value === null || typeof value !== "object" || Array.isArray(value)) params[path] = JSON.stringify(value);
  else {
    const members = Object.entries(value);
    if (members.length === 0) params[path] = "{}";
    for (const [key, member] of members) addLeaves(params, `${path}.${key}`, member);
  }
}
