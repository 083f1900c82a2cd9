import { aliasProblem, labelLimits, modelNameProblem, tagsProblem } from "../../../core/registry/names";
import { invalidParameter, invalidValue, missingValue } from "../errors";
import { problemOfName } from "../names";
import { checkLength } from "../tracking/validation";

export function checkModelName(name: string, parameter = "name"): void {
  if (name.trim() === "") throw missingValue(parameter);
  if (/[/:]/.test(name)) throw invalidParameter(`Invalid model name '${name}'. Names cannot contain '/' or ':'.`);
  const problem = modelNameProblem(name);
  if (problem !== undefined) throw invalidValue(parameter, name, `it ${problem}`);
}

/** A number that no version can have becomes −1. @throws MlflowError */
export function versionNumber(version: string): number {
  if (!/^\s*[+-]?\d+\s*$/.test(version)) {
    throw invalidParameter(`Parameter 'version' must be an integer, got '${version}'.`);
  }
  const number = Number(version);
  return Number.isSafeInteger(number) ? number : -1;
}

export function checkTagKey(key: string): void {
  const problem = problemOfName(key);
  if (problem !== undefined) throw invalidValue("key", key, problem);
  checkLength("key", labelLimits.tagKey, key);
}

export function checkTag({ key, value }: { readonly key: string; readonly value: string }): void {
  checkTagKey(key);
  checkLength("value", labelLimits.tagValue, value);
}

export function checkDescription(description: string): string {
  checkLength("description", labelLimits.description, description);
  return description;
}

export function checkAlias(alias: string): void {
  if (!/^[\p{L}\p{N}_-]*$/u.test(alias)) {
    throw invalidParameter(
      `Invalid alias name: '${alias}'. Names may only contain alphanumerics, underscores (_), and dashes (-).`,
    );
  }
  checkLength("Registered model alias name", 255, alias);
}

export function checkAliasIsFree(alias: string): void {
  if (alias.toLowerCase() === "latest") throw invalidParameter("'latest' alias name (case insensitive) is reserved.");
  if (/^v\d+$/i.test(alias)) throw invalidParameter(`Version alias name '${alias}' is reserved.`);
  const problem = aliasProblem(alias);
  if (problem !== undefined) {
    throw invalidParameter(`Invalid alias name: '${alias}'. It ${problem}.`);
  }
}

/** The last of a key wins. @throws MlflowError */
export function tagsOf(tags: readonly { readonly key?: string; readonly value?: string }[]): Record<string, string> {
  const read = Object.fromEntries(
    tags.map(({ key = "", value = "" }) => {
      checkTag({ key, value });
      return [key, value];
    }),
  );
  const problem = tagsProblem(read);
  if (problem !== undefined) throw invalidParameter(`Invalid value for parameter 'tags' supplied: they ${problem}`);
  return read;
}
