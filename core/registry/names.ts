export const labelLimits = {
  description: 10_000,
  tagKey: 250,
  tagValue: 100_000,
  /** Maximum size of all tags of a model or a version; a row holds 400 KB. */
  tagBytes: 200_000,
  aliases: 200,
} as const;

/** Returns why a model's name is invalid, by MLflow's rule; `undefined` if it is valid. */
export function modelNameProblem(name: string): string | undefined {
  if (name.trim() === "" || name.length > 250) return "must be 1–250 characters, at least one of them not white space";
  if (/[/:]/.test(name)) return "must not contain '/' or ':'";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (/[\u0000-\u001f\u007f]/.test(name)) return "must not contain control characters";
  if (name === "." || name === "..") return "must not be '.' or '..', which have a special meaning in paths";
  return /\p{Surrogate}/u.test(name) ? "must be well-formed Unicode: it has an unpaired surrogate" : undefined;
}

/** Returns why an alias is invalid, by MLflow's rule with its reserved names; `undefined` if it is valid. */
export function aliasProblem(alias: string): string | undefined {
  if (!/^[\w-]{1,255}$/.test(alias)) return "must be 1–255 letters, digits, hyphens and underscores";
  if (alias === "__proto__") return "must not be __proto__, which a JavaScript object cannot have as a key";
  if (alias.toLowerCase() === "latest") return "must not be latest, which always means the newest version";
  if (/^v\d+$/i.test(alias)) return "must not be v and a number, which always means the version of that number";
  return undefined;
}

/** Returns why all tags of a model or a version together are invalid; `undefined` if they are valid. */
export function tagsProblem(tags: Readonly<Record<string, string>>): string | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(tags));
  return bytes > labelLimits.tagBytes
    ? `must be at most ${labelLimits.tagBytes} bytes in total, not ${bytes}`
    : undefined;
}

/** The expression of https://semver.org 2.0.0 without build metadata, which would give one precedence two names. */
export const pattern =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?$/;

/** Returns why a semantic version is invalid; `undefined` if it is valid. */
export function semverProblem(text: string): string | undefined {
  if (text.length > 64) return "must be at most 64 characters";
  if (/^[^+]*\+/.test(text)) return "must have no build metadata (+…), which does not distinguish versions";
  return pattern.test(text) ? undefined : "must be a semantic version such as 1.4.0 or 2.0.0-rc.1";
}
