/**
 * Whether an IAM principal is meant by a pattern. `*` stands for any characters but `:` and `/`, so that a pattern means one kind of thing in one
 * account and under one path. Who acts in a role calls as a session of it, `arn:aws:sts::1:assumed-role/Role/session`; a pattern may name
 * the role instead, `arn:aws:iam::1:role/path/Role`. A session's ARN does not show the role's path, nor need it: a role's name is unique in its account.
 */
export function principalMatches(pattern: string, principal: string): boolean {
  if (globMatches(pattern, principal)) return true;
  const role = /^(arn:[\w*-]+):iam::([^:/]+):role\/(?:.*\/)?([^/]+)$/.exec(pattern);
  if (!role) return false;
  const [, arn, account, name] = role;
  return globMatches(`${arn}:sts::${account}:assumed-role/${name}/*`, principal);
}

/** Why a pattern would not mean what it seems to; `undefined` where it is sound. */
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
