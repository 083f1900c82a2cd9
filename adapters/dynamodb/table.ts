import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { eachLimited, inParts, mapLimited } from "../../core/each-limited";
import { InvalidInputError } from "../../core/errors";
import type { Clock } from "../../core/ports";
import type { Permission } from "../../platform/permissions";
import { sharedPort, teamPort } from "../port";
import { documents, holds, isTransactionConditionFailed, isTransactionConflict, pauseBeforeRound } from "./client";

export class Expression {
  constructor(
    private readonly text: readonly string[],
    private readonly values: readonly unknown[],
  ) {}

  /** Returns the text with placeholders. Adds the values and the reserved names of attributes to `placeholders`. */
  write(placeholders: Given): string {
    const parts = this.text.map((text, i) => {
      for (const [name] of text.matchAll(/#\w+/g)) placeholders.names.set(name, name.slice(1));
      return i < this.values.length ? text + placeholder(this.values[i], placeholders) : text;
    });
    return parts.join("");
  }
}

interface Given {
  readonly names: Map<string, string>;
  readonly values: Map<string, unknown>;
}

function placeholder(value: unknown, placeholders: Given): string {
  if (value instanceof Expression) return value.write(placeholders);
  const name = `:v${placeholders.values.size}`;
  placeholders.values.set(name, value);
  return name;
}

/**
 * Makes an expression. An interpolated value becomes a placeholder, and an interpolated expression a part of this one.
 * Write a name that DynamoDB reserves as `#name`.
 *
 * @example ex`SET #status = ${"running"}${at === undefined ? ex`` : ex`, updatedAt = ${at}`}`
 */
export function ex(text: TemplateStringsArray, ...values: readonly unknown[]): Expression {
  return new Expression(text, values);
}

/** Makes the assignments of SET, without values that are `undefined`: `record.status = …, record.reason = …`. */
export function assign(values: Readonly<Record<string, unknown>>, path = ""): Expression {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  const texts = entries.map(([name], i) => `${i === 0 ? "" : ", "}${path}#${name} = `);
  return new Expression(
    [...texts, ""],
    entries.map(([, value]) => value),
  );
}

export const absent = ex`attribute_not_exists(pk)`;
export const exists = ex`attribute_exists(pk)`;

/** Returns expressions as the members of a request, with their names and values. Omits those that are `undefined`. */
export function requestOf<Name extends string>(expressions: Readonly<Record<Name, Expression | undefined>>) {
  const placeholders: Given = { names: new Map(), values: new Map() };
  const texts: Partial<Record<Name, string>> = {};
  for (const [name, expression] of Object.entries<Expression | undefined>(expressions)) {
    if (expression) texts[name as Name] = expression.write(placeholders);
  }
  return {
    ...texts,
    ...(placeholders.names.size === 0 ? {} : { ExpressionAttributeNames: Object.fromEntries(placeholders.names) }),
    ...(placeholders.values.size === 0 ? {} : { ExpressionAttributeValues: Object.fromEntries(placeholders.values) }),
  };
}

export type Item = Record<string, unknown>;

export interface Key extends Readonly<Record<string, unknown>> {
  readonly pk: string;
  readonly sk: string;
}

export type Write = NonNullable<TransactWriteCommandInput["TransactItems"]>[number];

export interface QueryOptions {
  /** Queries this index. It is eventually consistent. */
  readonly index?: "gsi1";
  readonly filter?: Expression | undefined;
  readonly select?: Expression;
  readonly descending?: boolean;
  /** The default is strong consistency, which an index does not have. */
  readonly consistent?: boolean;
}

export interface PageOptions extends QueryOptions {
  readonly limit?: number | undefined;
  readonly nextToken?: string | undefined;
}

export const recordOf = <T>(item: Item): T => item["record"] as T;

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextToken: string | undefined;
}

/** DynamoDB's limits on items per call. */
const [keysPerRead, itemsPerWrite] = [100, 25];
/** The numbers of concurrent calls: 800 rows are read at once, and 100 are written. */
const [readsAtOnce, writesAtOnce] = [8, 4];
/** The number of items that one call of a filtered query reads. */
const lookedAtACall = 500;
const maxCalls = 40;

/** One table with the keys `pk` and `sk`. Reads are strongly consistent, except reads of an index. */
export class Table {
  constructor(
    readonly client: DynamoDBDocumentClient,
    readonly name: string,
  ) {}

  async get(Key: Key, select?: Expression): Promise<Item | undefined> {
    const input = { TableName: this.name, Key, ConsistentRead: true, ...requestOf({ ProjectionExpression: select }) };
    return (await this.client.send(new GetCommand(input))).Item;
  }

  async record<T>(key: Key): Promise<T | undefined> {
    return (await this.get(key))?.["record"] as T | undefined;
  }

  /** Writes an item. Returns false if the condition does not hold. */
  put(Item: Item, condition?: Expression): Promise<boolean> {
    return holds(this.client.send(new PutCommand(this.putting(Item, condition).Put)));
  }

  update(Key: Key, change: Expression, condition?: Expression): Promise<boolean> {
    return holds(this.client.send(new UpdateCommand(this.updating(Key, change, condition).Update)));
  }

  /** Adds one to a number of an existing item. @returns the number before */
  async increment(Key: Key, attribute: string): Promise<number> {
    const { Update } = this.updating(Key, new Expression([`ADD #${attribute} `, ""], [1]), exists);
    const { Attributes } = await this.client.send(new UpdateCommand({ ...Update, ReturnValues: "UPDATED_OLD" }));
    return Attributes?.[attribute] as number;
  }

  delete(Key: Key, condition?: Expression): Promise<boolean> {
    return holds(this.client.send(new DeleteCommand(this.deleting(Key, condition).Delete)));
  }

  putting(Item: Item, condition?: Expression) {
    return { Put: { TableName: this.name, Item, ...requestOf({ ConditionExpression: condition }) } };
  }

  updating(Key: Key, change: Expression, condition?: Expression) {
    const { UpdateExpression = "", ...rest } = requestOf({ UpdateExpression: change, ConditionExpression: condition });
    return { Update: { TableName: this.name, Key, UpdateExpression, ...rest } };
  }

  deleting({ pk, sk }: Key, condition?: Expression) {
    return { Delete: { TableName: this.name, Key: { pk, sk }, ...requestOf({ ConditionExpression: condition }) } };
  }

  checking(Key: Key, condition: Expression) {
    const { ConditionExpression = "", ...rest } = requestOf({ ConditionExpression: condition });
    return { ConditionCheck: { TableName: this.name, Key, ConditionExpression, ...rest } };
  }

  /**
   * Makes all writes or none. Returns false if a condition does not hold; tries again after a conflict or throttling.
   */
  async transact(TransactItems: Write[], rounds = 1): Promise<boolean> {
    for (let round = 1; ; round += 1) {
      try {
        await this.client.send(new TransactWriteCommand({ TransactItems }));
        return true;
      } catch (error) {
        if (isTransactionConditionFailed(error)) return false;
        if (!isTransactionConflict(error) || round === rounds) throw error;
        await pauseBeforeRound(round);
      }
    }
  }

  /** Makes all writes or none. Returns false if a condition does not hold, or after a conflict. */
  async tryTransact(writes: Write[]): Promise<boolean> {
    try {
      return await this.transact(writes);
    } catch (error) {
      if (isTransactionConflict(error)) return false;
      throw error;
    }
  }

  async read(where: Expression, options: QueryOptions & { readonly limit?: number | undefined }, start?: Item) {
    const { index, filter, select, descending, consistent = index === undefined, limit } = options;
    const page = await this.client.send(
      new QueryCommand({
        TableName: this.name,
        IndexName: index,
        ...requestOf({ KeyConditionExpression: where, FilterExpression: filter, ProjectionExpression: select }),
        ...(descending === true ? { ScanIndexForward: false } : {}),
        ...(consistent ? { ConsistentRead: true } : {}),
        Limit: limit,
        ExclusiveStartKey: start,
      }),
    );
    const items: readonly Item[] = page.Items ?? [];
    return { items, last: page.LastEvaluatedKey as Item | undefined };
  }

  async all(where: Expression, options: QueryOptions = {}): Promise<readonly Item[]> {
    const items: Item[] = [];
    let start: Item | undefined;
    do {
      const page = await this.read(where, options, start);
      items.push(...page.items);
      start = page.last;
    } while (start);
    return items;
  }

  async records<T>(where: Expression, options?: QueryOptions): Promise<readonly T[]> {
    return (await this.all(where, options)).map((item) => recordOf<T>(item));
  }

  /**
   * Returns one page of a query.
   * @throws InvalidInputError for a token that is not from this query: not JSON, or not a key of the index
   */
  async page<T>(where: Expression, options: PageOptions, read: (item: Item) => T = recordOf): Promise<Page<T>> {
    const { nextToken, ...rest } = options;
    const start = nextToken === undefined ? undefined : decodePageToken(nextToken);
    try {
      const { items, last } = await this.read(where, rest, start);
      return { items: items.map(read), nextToken: encodePageToken(last) };
    } catch (cause) {
      if (nextToken !== undefined && cause instanceof Error && cause.name === "ValidationException")
        throw wrongToken(nextToken, cause);
      throw cause;
    }
  }

  /**
   * Returns the next `limit` items of the index that match the filter, with as many calls as needed. It checks whether
   * another item follows, so only the first page can be empty. After `maxCalls` calls a page ends early with a token.
   * @throws InvalidInputError like `page`
   */
  async matching(where: Expression, options: PageOptions & { readonly limit: number }): Promise<Page<Item>> {
    const limit = options.filter === undefined ? options.limit + 1 : lookedAtACall;
    const items: Item[] = [];
    let { nextToken } = options;
    for (let call = 1; call <= maxCalls; call += 1) {
      const page = await this.page(where, { ...options, limit, nextToken }, (item) => item);
      items.push(...page.items);
      nextToken = page.nextToken;
      if (items.length > options.limit) {
        const { pk, sk, gsi1pk, gsi1sk } = items[options.limit - 1]!;
        return { items: items.slice(0, options.limit), nextToken: encodePageToken({ pk, sk, gsi1pk, gsi1sk }) };
      }
      if (nextToken === undefined) break;
    }
    return { items, nextToken };
  }

  /** Returns rows by their keys, in any order. Missing rows are omitted. Keys must be distinct. */
  async batchGet(keys: readonly Key[]): Promise<readonly Item[]> {
    return (await mapLimited(inParts(keys, keysPerRead), readsAtOnce, (some) => this.getSome(some))).flat();
  }

  /** Reads one part. The next call requests the keys that DynamoDB left out because of the 16 MB limit or throttling. */
  private async getSome(keys: readonly Key[]): Promise<readonly Item[]> {
    const results: Item[] = [];
    let left: readonly Item[] = keys;
    for (let round = 0; left.length > 0; round += 1) {
      if (round > 0) await pauseBeforeRound(round);
      const answer = await this.client.send(
        new BatchGetCommand({ RequestItems: { [this.name]: { Keys: [...left], ConsistentRead: true } } }),
      );
      const items = answer.Responses?.[this.name] ?? [];
      results.push(...items);
      left = answer.UnprocessedKeys?.[this.name]?.Keys ?? [];
      if (items.length > 0) round = 0;
    }
    return results;
  }

  async batchWrite(puts: readonly Item[], deletes: readonly Key[] = []): Promise<void> {
    const requests = [
      ...puts.map((Item) => ({ PutRequest: { Item } })),
      ...deletes.map((Key) => ({ DeleteRequest: { Key } })),
    ];
    await eachLimited(inParts(requests, itemsPerWrite), writesAtOnce, async (some) => {
      let left: readonly Item[] = some;
      for (let round = 0; left.length > 0; round += 1) {
        if (round > 0) await pauseBeforeRound(round);
        const answer = await this.client.send(new BatchWriteCommand({ RequestItems: { [this.name]: [...left] } }));
        left = answer.UnprocessedItems?.[this.name] ?? [];
      }
    });
  }
}

function encodePageToken(key: Item | undefined): string | undefined {
  return key === undefined ? undefined : Buffer.from(JSON.stringify(key)).toString("base64url");
}

function decodePageToken(token: string): Item {
  try {
    const key: unknown = JSON.parse(Buffer.from(token, "base64url").toString("utf8"));
    if (key !== null && typeof key === "object") return key as Item;
  } catch {
    // Refused below.
  }
  throw wrongToken(token);
}

function wrongToken(value: string, cause?: unknown): InvalidInputError {
  const rule = "must be the nextToken of an earlier page";
  return new InvalidInputError("the page cannot be listed", [{ path: "nextToken", value, rule }], cause);
}

export const catalogTable = sharedPort({
  uses: { documents: documents() },
  make: ({ documents }, { config }) => new Table(documents, config.tables.catalog),
});

type Grants<Group extends string> = Readonly<Record<Group, readonly Permission[]>>;

export const catalogPort = <Group extends string, T>(make: (table: Table, clock: Clock) => T, grants?: Grants<Group>) =>
  sharedPort({ uses: { table: catalogTable() }, grants, make: ({ table }, { clock }) => make(table, clock) });

export const teamCatalogPort = <Group extends string, T>(
  make: (table: Table, team: string, clock: Clock) => T,
  grants: Grants<Group>,
) =>
  teamPort({
    uses: { table: catalogTable() },
    grants,
    make: ({ table }, { team, clock }) => make(table, team, clock),
  });
