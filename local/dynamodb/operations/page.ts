import { validation } from "../errors";
import type { Condition, Path, Projection } from "../expression/ast";
import { holds } from "../expression/evaluate";
import { conditionPaths, refusePathsIntoKeys } from "../expression/path";
import { checkIndexKeys, checkKey, itemKey, keyOf } from "../store/item-keys";
import type { Range } from "../store/store";
import { decodeItem, storedBytes } from "../store/stored-item";
import { type Index, keyNames, type Table } from "../store/table";
import { attribute, type Item } from "../value/attribute-value";
import type { Fields } from "../wire/fields";
import { Capacity, type CapacityDetail, readCapacityDetail, readUnits } from "./capacity";
import type { Context } from "./context";
import { checkProjection, shownJson } from "./get-item";

/** The size of a page. A page ends with the item that exceeds it, including filtered items. */
const pageBytes = 1024 * 1024;

const selects = ["ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES", "SPECIFIC_ATTRIBUTES", "COUNT"] as const;

/** The common fields of Query and Scan. */
export interface PageRequest {
  readonly tableName: string;
  readonly indexName: string | undefined;
  readonly select: (typeof selects)[number] | undefined;
  readonly limit: number | undefined;
  readonly consistent: boolean;
  readonly startKey: Item | undefined;
  readonly detail: CapacityDetail;
}

export interface Source {
  readonly table: Table;
  readonly index: Index | undefined;
  /** Whether entries lack requested attributes, so that the items themselves must be read. */
  readonly fetch: boolean;
}

export function readPageRequest(fields: Fields): PageRequest {
  const request = {
    tableName: fields.tableName(),
    indexName: fields.resourceName("IndexName"),
    select: fields.choice("Select", selects),
    limit: fields.integer("Limit", 1),
    consistent: fields.boolean("ConsistentRead") ?? false,
    startKey: fields.item("ExclusiveStartKey"),
    detail: readCapacityDetail(fields),
  };
  fields.check();
  checkSelect(fields, request);
  return request;
}

function checkSelect(fields: Fields, { select, indexName }: PageRequest): void {
  const projected = fields.has("ProjectionExpression");
  if (select === "SPECIFIC_ATTRIBUTES" && !projected) {
    throw validation(
      "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES",
    );
  }
  if (projected && select !== undefined && select !== "SPECIFIC_ATTRIBUTES") {
    const what = select === "COUNT" ? "only the Count" : select;
    throw validation(`Cannot specify the ProjectionExpression when choosing to get ${what}`);
  }
  if (select === "ALL_PROJECTED_ATTRIBUTES" && indexName === undefined) {
    throw validation("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName");
  }
}

export function sourceOf(table: Table, { indexName, consistent, select }: PageRequest): Source {
  if (indexName === undefined) return { table, index: undefined, fetch: false };
  const index = table.indexes.find(({ name }) => name === indexName);
  if (!index) throw validation(`The table does not have the specified index: ${indexName}`);
  if (index.status !== "ACTIVE") throw validation(`Cannot read from backfilling global secondary index: ${indexName}`);
  if (index.scope === "global" && consistent) {
    throw validation("Consistent reads are not supported on global secondary indexes");
  }
  const fetch = select === "ALL_ATTRIBUTES" && index.kept !== undefined;
  if (fetch && index.scope === "global") {
    throw validation(
      `One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index ${indexName} because its projection type is not ALL`,
    );
  }
  return { table, index, fetch };
}

/** Refuses a start key that does not consist of exactly the key attributes of the table and the index. */
export function requireExactStartKey({ table, index }: Source, key: Item): void {
  const names = new Set([...keyNames(table.key), ...(index ? keyNames(index.key) : [])]);
  if (Object.keys(key).length !== names.size || Object.keys(key).some((name) => !names.has(name))) {
    throw validation("The provided starting key is invalid");
  }
  const tableKey = Object.fromEntries(keyNames(table.key).map((name) => [name, attribute(key, name)!]));
  try {
    checkKey(table, tableKey);
    checkIndexKeys(table, key);
  } catch (error) {
    throw validation(`The provided starting key is invalid: ${(error as Error).message}`);
  }
}

/** Reads, filters and projects one page of a range. */
export async function readPage(
  { store }: Context,
  source: Source,
  request: PageRequest,
  expressions: { readonly filter?: Condition | undefined; readonly projection?: Projection | undefined },
  range: Range,
): Promise<string> {
  const { table, index } = source;
  const { filter, projection } = expressions;
  if (projection) checkProjection(table, projection);
  if (filter) refusePathsIntoKeys(conditionPaths(filter), table.keyRoles);
  const filterWhole = filter !== undefined && needsWhole(index, conditionPaths(filter));
  const showWhole = source.fetch || needsWhole(index, projection ?? []);
  const page = new Page(request.limit ?? Number.POSITIVE_INFINITY);
  const capacity = new Capacity(request.detail);
  const shown: string[] = [];
  const limit = request.limit === undefined ? {} : { limit: request.limit };
  await store.scan({ ...range, ...limit }, (entry, get) => {
    page.take(entry);
    const whole = filterWhole || showWhole ? (get(itemKey(table, decodeItem(entry))) ?? entry) : entry;
    if (!filter || holds(filter, decodeItem(whole))) {
      page.matched++;
      if (showWhole) capacity.add(table, readUnits(storedBytes(whole), request.consistent));
      if (request.select !== "COUNT") shown.push(shownJson(showWhole ? whole : entry, projection));
    }
    return !page.full;
  });
  capacity.add(table, readUnits(page.bytes, request.consistent), index?.name);
  return pageJson(request, page, shown, page.full ? keyOf(table, decodeItem(page.last!), index) : undefined, capacity);
}

class Page {
  scanned = 0;
  matched = 0;
  bytes = 0;
  last: string | undefined;

  constructor(private readonly limit: number) {}

  get full(): boolean {
    return this.scanned >= this.limit || this.bytes > pageBytes;
  }

  take(entry: string): void {
    this.scanned++;
    this.bytes += storedBytes(entry);
    this.last = entry;
  }
}

function pageJson(
  { select }: PageRequest,
  page: Page,
  shown: readonly string[],
  lastKey: Item | undefined,
  capacity: Capacity,
): string {
  const items = select === "COUNT" ? "" : `"Items":[${shown.join(",")}],`;
  const last = lastKey ? `,"LastEvaluatedKey":${JSON.stringify(lastKey)}` : "";
  const consumed = capacity.single();
  const used = consumed ? `,"ConsumedCapacity":${JSON.stringify(consumed)}` : "";
  return `{${items}"Count":${page.matched},"ScannedCount":${page.scanned}${last}${used}}`;
}

/**
 * Returns whether a query needs the whole items. Local indexes read attributes that they do not project from the table.
 * Global indexes refuse such a query.
 */
function needsWhole(index: Index | undefined, paths: readonly Path[]): boolean {
  const lacking = lackingNames(index, paths);
  if (!index || lacking.length === 0) return false;
  if (index.scope === "local") return true;
  throw validation(
    `One or more parameter values were invalid: Global secondary index ${index.name} does not project [${lacking.join(", ")}]`,
  );
}

/** Returns the attributes in the paths that the index's entries lack. */
export function lackingNames(index: Index | undefined, paths: readonly Path[]): string[] {
  const kept = index?.kept;
  return kept ? [...new Set(paths.map(([name]) => name).filter((name) => !kept.has(name)))].sort() : [];
}
