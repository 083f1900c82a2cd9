import { createHash } from "node:crypto";
import type { MlflowCase } from "./case";
import { type Answer, converse } from "./converse";

/** Digest of what a case sends: a recording of other steps is not valid. */
export function stepsDigest({ steps }: MlflowCase): string {
  return createHash("sha256").update(JSON.stringify(steps)).digest("hex").slice(0, 12);
}

/** Runs the conversation with ours, and compares its answers with MLflow's. */
export async function checkOurs(base: string, each: MlflowCase, expected: readonly Answer[]): Promise<void> {
  const answers = await converse(base, each);
  const wanted = each.steps.map(({ ours }, index) => {
    if (!ours) return expected[index];
    const [, body, headers] = answers[index] ?? [];
    const wantedBody = ours.body ?? body;
    if (headers) return [ours.status, wantedBody, headers];
    return wantedBody === undefined ? [ours.status] : [ours.status, wantedBody];
  });
  // The request is compared with itself: it says in a failure which step differs.
  const named = (all: readonly unknown[]) =>
    all.map((answer, index) => ({ request: `${each.steps[index]?.method} ${each.steps[index]?.path}`, answer }));
  expect(named(answers)).toEqual(named(wanted));
}
