import { createHash } from "node:crypto";
import type { MlflowCase } from "./case";
import { type Answer, converse } from "./converse";

/** Of what is sent: a recording of other steps is none. */
export function stepsDigest({ steps }: MlflowCase): string {
  return createHash("sha256").update(JSON.stringify(steps)).digest("hex").slice(0, 12);
}

/** Holds the conversation with ours, and its answers against MLflow's. */
export async function checkOurs(base: string, each: MlflowCase, expected: readonly Answer[]): Promise<void> {
  const answers = await converse(base, each);
  const wanted = each.steps.map(({ ours }, index) => {
    if (!ours) return expected[index];
    const { request, headers } = answers[index]!;
    const body = ours.body === undefined ? answers[index]!.body : ours.body;
    return { request, status: ours.status, ...(headers ? { headers } : {}), body };
  });
  expect(answers).toEqual(wanted);
}
