import type { Feature, ViewDefinition, ViewVersion } from "./shapes";

/**
 * Returns the changes that break readers of a version or its stored rows; empty for a compatible definition. New columns,
 * new features and another TTL are compatible: older rows lack the new values.
 */
export function incompatibilities(
  before: Pick<ViewVersion, "definition" | "features">,
  next: { readonly definition: ViewDefinition; readonly features: readonly Feature[] },
): readonly string[] {
  const changes: string[] = [];
  const [old, now] = [before.definition, next.definition];
  const differs = (what: string, a: string | undefined, b: string | undefined) => {
    if (a !== b) changes.push(`${what} was ${a ?? "none"}, and is ${b ?? "none"}`);
  };
  differs("entities", old.entities.join(", "), now.entities.join(", "));
  differs("eventTime", old.eventTime, now.eventTime);
  differs("creationTime", old.creationTime, now.creationTime);
  const columns = ({ columns }: ViewDefinition) => Object.entries(columns).map(([name, type]) => ({ name, type }));
  changes.push(...removedOrRetyped("column", columns(old), columns(now)));
  const isColumn = ({ name }: Feature) => Object.hasOwn(old.columns, name);
  changes.push(
    ...removedOrRetyped(
      "feature",
      before.features.filter((one) => !isColumn(one)),
      next.features,
    ),
  );
  return changes;
}

function removedOrRetyped(what: string, before: readonly Feature[], next: readonly Feature[]): readonly string[] {
  const types = new Map(next.map(({ name, type }) => [name, type]));
  return before.flatMap(({ name, type }) => {
    const now = types.get(name);
    if (now === type) return [];
    return [now === undefined ? `${what} ${name} is gone` : `${what} ${name} was ${type}, and is ${now}`];
  });
}
