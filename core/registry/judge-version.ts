import { judge } from "./gates/judge";
import type { MetChampion } from "./gates/no-regression";
import { combine } from "./gates/requirements";
import type { GateVerdict } from "./gates/verdict";
import { rulesOf } from "./policy";
import type { Registry } from "./registry";

/**
 * The verdict on a version that stands by itself: by its model's policy, against the champion of this moment. What a run of ours would have measured and
 * nobody has (slices, latency, the champion on the same rows) is missing, and what is missing passes nothing that is asked for.
 */
export async function judgeVersion(
  { registry }: { readonly registry: Registry },
  target: { readonly model: string; readonly version: number },
  at: string,
): Promise<GateVerdict> {
  const model = await registry.head(target.model);
  const candidate = await registry.version(target.model, target.version);
  const { production } = model;
  const met = production === undefined || production === target.version ? undefined : production;
  const reason = "a version that was judged by itself has no predictions of the test split";
  const verdict = judge(
    combine({}, rulesOf(model)),
    {
      metrics: candidate.metrics,
      metricSource: "register the version with its metrics",
      sliced: { reason },
      identity: `${candidate.model} ${candidate.version}`,
      lacking: reason,
      champion: met === undefined ? undefined : await championMet(registry, candidate, met),
    },
    () => ({ unanswered: "nobody has answered yet" }),
    at,
  );
  return { ...verdict, rulesRevision: model.policy?.rulesRevision };
}

async function championMet(
  registry: Registry,
  candidate: { readonly model: string; readonly weightsSha256?: string },
  production: number,
): Promise<MetChampion> {
  const { version, weightsSha256 } = await registry.version(candidate.model, production);
  if (weightsSha256 !== undefined && weightsSha256 === candidate.weightsSha256) return { version, comparison: "same" };
  const reasons = ["the versions were not evaluated on the same rows"];
  return { version, comparison: { kind: "incompatible", champion: version, reasons } };
}
