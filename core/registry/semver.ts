/** The expression of https://semver.org 2.0.0 without build metadata, which would give one precedence two names. */
const pattern =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?$/;

export function semverProblem(text: string): string | undefined {
  if (text.length > 64) return "must be at most 64 characters";
  if (/^[^+]*\+/.test(text)) return "must have no build metadata (+…), which does not distinguish versions";
  return pattern.test(text) ? undefined : "must be a semantic version such as 1.4.0 or 2.0.0-rc.1";
}

/**
 * Suggests the next minor version of the highest release, or 0.1.0 if there is none. Callers may choose any free one.
 */
export function suggestSemver(taken: readonly string[]): string {
  const releases = taken.flatMap((text) => {
    const [, major, minor, , pre] = pattern.exec(text) ?? [];
    return major === undefined || pre !== undefined ? [] : [[BigInt(major), BigInt(minor!)] as const];
  });
  const highest = releases.reduce<readonly [bigint, bigint] | undefined>(
    (best, each) =>
      best === undefined || each[0] > best[0] || (each[0] === best[0] && each[1] > best[1]) ? each : best,
    undefined,
  );
  return highest === undefined ? "0.1.0" : `${highest[0]}.${highest[1] + 1n}.0`;
}
