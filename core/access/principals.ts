/**
 * Tests whether an IAM principal matches a pattern.
 *
 * `*` stands for any characters but `:` and `/`, so that a pattern matches one kind of resource in one account and
 * under one path. A caller with an assumed role has the ARN of a session, `arn:aws:sts::1:assumed-role/Role/session`. A
 * pattern may name the role instead: `arn:aws:iam::1:role/path/Role`. The session's ARN lacks the role's path. The path
 * is not needed, because a role's name is unique in its account.
 */
export function principalMatches(pattern: string, principal: string): boolean {
  if (globMatches(pattern, principal)) return true;
  const role = /^(arn:[\w*-]+):iam::([^:/]+):role\/(?:.*\/)?([^/]+)$/.exec(pattern);
  if (!role) return false;
  const [, arn, account, name] = role;
  return globMatches(`${arn}:sts::${account}:assumed-role/${name}/*`, principal);
}

/** Returns why a pattern does not match what its author probably expects; `undefined` if it is sound. */
export function principalPatternProblem(pattern: string): string | undefined {
  if (/^[*:/]*$/.test(pattern)) return "would match every principal: name an account and a role or user";
  if (/:role\/.*\/[^/]*\*/.test(pattern))
    return "has a path and a * in the role's name, but a caller's ARN does not contain its role's path: name the role in full, or leave the path out";
  return undefined;
}

function globMatches(pattern: string, text: string): boolean {
  const parts = pattern.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join("[^:/]*")}$`).test(text);
}
