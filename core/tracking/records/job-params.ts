import type { Job } from "../../training/job";

/** What of a job is no parameter: where it belongs, what it reads (an input of the record), and what people note. */
const others: ReadonlySet<string> = new Set(["experiment", "dataset", "registerAs", "tags", "notes"]);

/**
 * Returns a job's leaves by dotted path: `hyperparameters.learningRate` → `0.001`. Texts as they are, all else as JSON; arrays and empty objects
 * are leaves.
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
