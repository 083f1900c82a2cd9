import type { ApiClient } from "../../client/api-client";
import { InvalidInputError, type Problem } from "../../core/errors";
import type { FeatureValue, ViewDefinition } from "../../core/feature-store/shapes";

type Typed = Pick<ViewDefinition, "entities" | "columns" | "name">;

/** Reads `customer=17` by the types of the views' entities. @throws InvalidInputError */
export function entityOf(options: readonly string[], views: readonly Typed[]): Readonly<Record<string, FeatureValue>> {
  const types = new Map(
    views.flatMap(({ entities, columns }) => entities.map((name) => [name, columns[name]!] as const)),
  );
  const problems: Problem[] = [];
  const entity: Record<string, FeatureValue> = {};
  for (const option of options) {
    const at = option.indexOf("=");
    const name = option.slice(0, at);
    const type = at < 1 ? undefined : types.get(name);
    const value = option.slice(at + 1);
    if (type === undefined) {
      const rule = `must be COLUMN=VALUE, with a column of ${[...types.keys()].join(", ")}`;
      problems.push({ path: "--entity", value: option, rule });
    } else if (type === "int" && !/^-?\d{1,16}$/.test(value)) {
      problems.push({ path: "--entity", value: option, rule: "must be a whole number" });
    } else if (type === "bool" && !/^(?:true|false)$/.test(value)) {
      problems.push({ path: "--entity", value: option, rule: "must be true or false" });
    } else entity[name] = type === "int" ? Number(value) : type === "bool" ? value === "true" : value;
  }
  if (problems.length > 0) throw new InvalidInputError("the entity is not valid", problems);
  return entity;
}

/** Returns the version of `NAME` or `NAME@3`, with the state of its rows. @throws InvalidInputError */
export function viewAt(client: ApiClient, reference: string) {
  const [, view, version] = /^([^@]+)(?:@(\d{1,9}))?$/.exec(reference.trim()) ?? [];
  if (view === undefined) {
    const rule = "must be NAME or NAME@VERSION";
    throw new InvalidInputError("the feature view is not valid", [{ path: "view", value: reference, rule }]);
  }
  return version === undefined
    ? client.call("getFeatureView", { params: { view } })
    : client.call("getFeatureViewVersion", { params: { view, version: Number(version) } });
}
