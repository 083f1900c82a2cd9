import type { PolicyDocument } from "./grants";

/** Name of the run role's inline policy that denies everything to the sessions of ended runs. */
export const endedRunsPolicyName = "ended-runs";

/** IAM's limit on the inline policies of a role, in characters. The run role has no other inline policy. */
const maxCharacters = 10_240;

/** Matches no session: a session's name has at least two characters. IAM does not accept an empty list. */
const noSession = "*:";

/**
 * Builds the policy that ends the sessions of runs. A session is named after its run, and `aws:userid` is the role's
 * id, a colon and the session's name.
 * @param runIds the first of them are denied, as many as fit in the policy
 * @returns `omitted`: the number of runs that did not fit
 */
export function endedRunsPolicy(runIds: readonly string[]): {
  readonly document: PolicyDocument;
  readonly omitted: number;
} {
  const documentOf = (sessions: readonly string[]): PolicyDocument => ({
    Version: "2012-10-17",
    Statement: [{ Effect: "Deny", Action: "*", Resource: "*", Condition: { StringLike: { "aws:userid": sessions } } }],
  });
  const sessions = [noSession];
  let characters = JSON.stringify(documentOf(sessions)).length;
  for (const runId of runIds) {
    const session = `*:${runId}`;
    characters += JSON.stringify(session).length + 1;
    if (characters > maxCharacters) break;
    sessions.push(session);
  }
  return { document: documentOf(sessions), omitted: runIds.length + 1 - sessions.length };
}
