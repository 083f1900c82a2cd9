import { isNullable } from "../core/datasets/rules";
import { inParts, mapLimited } from "../core/each-limited";
import { InvalidInputError, type Problem } from "../core/errors";
import type { ModelArtifact } from "../core/evaluation/model-artifact";
import type { PlanColumn } from "../core/feature-plans/shapes";
import { maxReads } from "../core/feature-store/online";
import type { FeatureValue } from "../core/feature-store/shapes";
import { storedValue } from "../core/feature-store/values";
import { type OriginatedColumn, viewsOfColumns } from "../core/feature-store/view-columns";
import { inputColumns } from "../core/features/planned-rows";
import type { RawRow } from "../core/row-values";
import type { ApiClient } from "./api-client";

export interface NeededView {
  /** `name@version`. */
  readonly view: string;
  readonly entities: readonly PlanColumn[];
  /** The model's columns that are features of the view. */
  readonly columns: readonly OriginatedColumn[];
  /** The newest version, if its rows are others: the rows of `view` no longer grow. */
  readonly successor?: string;
}

/** Returns the feature views that a model's columns come from; none if it was trained without views. */
export async function neededViews(
  client: Pick<ApiClient, "call">,
  { inputSchema, transform }: Pick<ModelArtifact, "inputSchema" | "transform">,
): Promise<readonly NeededView[]> {
  const used = inputColumns(transform);
  const views = viewsOfColumns(inputSchema.filter(({ name }) => used.has(name)));
  return Promise.all(
    [...views].map(async ([reference, columns]): Promise<NeededView> => {
      const [view, version] = reference.split("@") as [string, string];
      const [{ version: found }, { version: newest }] = await Promise.all([
        client.call("getFeatureViewVersion", { params: { view, version: Number(version) } }),
        client.call("getFeatureView", { params: { view } }),
      ]);
      const { definition, generation } = found;
      return {
        ...{ view: reference, columns },
        entities: definition.entities.map((name) => ({ name, type: definition.columns[name]! })),
        ...(newest.generation > generation ? { successor: `${view}@${newest.version}` } : {}),
      };
    }),
  );
}

export function viewWarnings(views: readonly NeededView[]): readonly string[] {
  return views.flatMap(({ view, successor }) => {
    if (successor === undefined) return [];
    return [`${view} gets no new rows since ${successor}, which is not compatible; train the model with ${successor}`];
  });
}

const requestsAtOnce = 4;

/**
 * Adds to rows the columns of views that they lack, as the online store has them now; null for an entity without a row
 * within the TTL, as in the join of the training rows. `onAbsent` gets these entities, as JSON. @throws
 * InvalidInputError that names rows as `rows[0]`
 */
export async function completeRows(
  client: Pick<ApiClient, "call">,
  views: readonly NeededView[],
  rows: readonly RawRow[],
  onAbsent?: (view: string, entities: readonly string[]) => void,
): Promise<readonly RawRow[]> {
  const completed = rows.map((row): Record<string, unknown> => ({ ...row }));
  const problems: Problem[] = [];
  for (const needed of views) {
    const lacking = [...completed.entries()].filter(([, row]) =>
      needed.columns.some(({ column }) => !Object.hasOwn(row, column.name)),
    );
    if (lacking.length === 0) continue;
    const keys = lacking.map(([index, row]) => {
      const key = keyOf(needed, row, index);
      problems.push(...key.problems);
      return key.text;
    });
    if (problems.length > 0) continue;
    const { found, absent } = await readEntities(client, needed, new Set(keys.filter((key) => key !== undefined)));
    if (absent.length > 0) onAbsent?.(needed.view, absent);
    for (const [at, [index, row]] of lacking.entries()) {
      const features = found.get(keys[at] ?? "") ?? {};
      for (const { column, feature } of needed.columns) {
        if (Object.hasOwn(row, column.name)) continue;
        const stored = features[feature] ?? null;
        // A text that meant a missing value in the training rows means it here.
        const value = typeof stored === "string" && column.missing?.includes(stored) ? null : stored;
        row[column.name] = value;
        if (value !== null || isNullable(column)) continue;
        const rule = `has no value in ${needed.view} for ${keys[at] ?? "an entity that is missing"}: there is no row within the TTL, or it lacks the value; the column is not nullable, so send a row, or give the value`;
        problems.push({ path: `rows[${index}].${column.name}`, rule });
      }
    }
  }
  if (problems.length > 0) throw new InvalidInputError("the rows cannot be completed", problems.slice(0, 20));
  return completed;
}

/** Returns the entity of a row as JSON; no text if one of its values is null, which identifies no entity. */
function keyOf(
  { view, entities }: NeededView,
  row: RawRow,
  index: number,
): { readonly text?: string; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const entity: Record<string, FeatureValue> = {};
  for (const { name, type } of entities) {
    const cell = Object.hasOwn(row, name) ? row[name] : undefined;
    if (cell === null) return { problems };
    // Files have times in milliseconds.
    const value = type === "timestamp" && typeof cell === "number" ? new Date(cell).toISOString() : cell;
    if (storedValue(value, type) === undefined) {
      const rule = `must be given, as ${type}: it identifies the row of ${view}`;
      problems.push({ path: `rows[${index}].${name}`, value: cell, rule });
    } else entity[name] = value as FeatureValue;
  }
  return problems.length > 0 ? { problems } : { text: JSON.stringify(entity), problems };
}

async function readEntities(
  client: Pick<ApiClient, "call">,
  { view }: NeededView,
  keys: ReadonlySet<string>,
): Promise<{
  readonly found: ReadonlyMap<string, Readonly<Record<string, FeatureValue>>>;
  readonly absent: readonly string[];
}> {
  const absent: string[] = [];
  const featuresOf = new Map<string, Readonly<Record<string, FeatureValue>>>();
  await mapLimited([...inParts([...keys], maxReads)], requestsAtOnce, async (some) => {
    const entities = some.map((key) => JSON.parse(key) as Record<string, FeatureValue>);
    const { rows } = await client.call("readOnlineFeatures", { body: { views: [view], entities } });
    for (const [at, { features, eventTimes }] of rows.entries()) {
      const key = some[at]!;
      featuresOf.set(key, features);
      if (Object.values(eventTimes).every((time) => time === null)) absent.push(key);
    }
  });
  return { found: featuresOf, absent };
}
