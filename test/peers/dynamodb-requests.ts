import { mulberry32 } from "../../core/datasets/split";

/** Random requests to DynamoDB, many of them wrong, out of a small world so that they meet the same items. */
export interface RandomRequest {
  readonly operation: "PutItem" | "DeleteItem" | "UpdateItem" | "Query" | "Scan" | "GetItem" | "TransactWriteItems";
  readonly input: Record<string, unknown>;
}

type Value = Record<string, unknown>;

export const indexedTable = {
  BillingMode: "PAY_PER_REQUEST",
  AttributeDefinitions: [
    { AttributeName: "pk", AttributeType: "S" },
    { AttributeName: "sk", AttributeType: "N" },
    { AttributeName: "g", AttributeType: "S" },
    { AttributeName: "score", AttributeType: "N" },
  ],
  KeySchema: [
    { AttributeName: "pk", KeyType: "HASH" },
    { AttributeName: "sk", KeyType: "RANGE" },
  ],
  GlobalSecondaryIndexes: [
    {
      IndexName: "gsi",
      KeySchema: [
        { AttributeName: "g", KeyType: "HASH" },
        { AttributeName: "score", KeyType: "RANGE" },
      ],
      Projection: { ProjectionType: "INCLUDE", NonKeyAttributes: ["a", "m"] },
    },
  ],
  LocalSecondaryIndexes: [
    {
      IndexName: "lsi",
      KeySchema: [
        { AttributeName: "pk", KeyType: "HASH" },
        { AttributeName: "g", KeyType: "RANGE" },
      ],
      Projection: { ProjectionType: "KEYS_ONLY" },
    },
  ],
} as const;

const attributes = ["a", "bb", "c", "d", "l", "m", "ss", "ns", "g", "score", "pk", "sk"];
const numbers = ["0", "1", "-1", "2.5", "10", "1e3", "-0.001", "12345678901234567890", "3"];
const comparators = ["=", "<>", "<", "<=", ">", ">="];

/** The expressions of one request, with the placeholders that they use. */
class Placeholders {
  private readonly names: Record<string, string> = {};
  private readonly values: Record<string, Value> = {};
  private count = 0;

  name(attribute: string): string {
    const placeholder = `#n${this.count++}`;
    this.names[placeholder] = attribute;
    return placeholder;
  }

  value(value: Value): string {
    const placeholder = `:v${this.count++}`;
    this.values[placeholder] = value;
    return placeholder;
  }

  complete(input: Record<string, unknown>): Record<string, unknown> {
    return {
      ...input,
      ...(Object.keys(this.names).length > 0 ? { ExpressionAttributeNames: this.names } : {}),
      ...(Object.keys(this.values).length > 0 ? { ExpressionAttributeValues: this.values } : {}),
    };
  }
}

export class RequestGenerator {
  private readonly random: () => number;

  constructor(
    private readonly table: string,
    seed: number,
  ) {
    this.random = mulberry32(seed);
  }

  next(): RandomRequest {
    return this.pick<() => RandomRequest>(
      () => this.put(),
      () => this.put(),
      () => this.put(),
      () => this.delete(),
      () => this.update(),
      () => this.update(),
      () => this.update(),
      () => this.query(),
      () => this.scan(),
      () => this.get(),
      () => this.transaction(),
    )();
  }

  private upTo(limit: number): number {
    return Math.floor(this.random() * limit);
  }

  private maybe(probability: number): boolean {
    return this.random() < probability;
  }

  private pick<T>(...choices: readonly T[]): T {
    return choices[this.upTo(choices.length)]!;
  }

  private list<T>(limit: number, make: () => T): T[] {
    return Array.from({ length: this.upTo(limit) }, make);
  }

  private some<T>(...all: readonly T[]): T[] {
    return all.filter(() => this.maybe(0.5));
  }

  private scalar(): Value {
    return this.pick<() => Value>(
      () => ({ S: this.pick("", "a", "ab", "abc", "b", "é") }),
      () => ({ N: this.pick(...numbers) }),
      () => ({ B: new Uint8Array(this.list(3, () => this.upTo(3))) }),
      () => ({ BOOL: this.maybe(0.5) }),
      () => ({ NULL: true }),
    )();
  }

  private value(depth = 0): Value {
    if (depth > 2 || this.maybe(0.6)) return this.scalar();
    return this.pick<() => Value>(
      () => ({ L: this.list(4, () => this.value(depth + 1)) }),
      () => ({ M: Object.fromEntries(this.some("a", "bb", "x").map((name) => [name, this.value(depth + 1)])) }),
      () => ({ SS: [...this.some("a", "b", "ab"), "z"] }),
      () => ({ NS: [...this.some("1", "2", "10"), "7"] }),
      () => ({ BS: [new Uint8Array([1]), ...this.some(new Uint8Array([2]))] }),
    )();
  }

  private key(): Record<string, Value> {
    return { pk: { S: this.pick("p", "q") }, sk: { N: this.pick("1", "2", "-1", "0", "10") } };
  }

  private item(): Record<string, Value> {
    const item = this.key();
    for (const name of this.some("a", "bb", "c", "d")) item[name] = this.value();
    if (this.maybe(0.6)) item["l"] = { L: this.list(4, () => this.value(1)) };
    if (this.maybe(0.6)) item["m"] = { M: { a: this.value(1), bb: this.value(1), x: { M: { y: this.scalar() } } } };
    if (this.maybe(0.5)) item["ss"] = { SS: ["a", "b"] };
    if (this.maybe(0.5)) item["ns"] = { NS: ["1", "2"] };
    if (this.maybe(0.6)) item["g"] = { S: this.pick("g", "h") };
    if (this.maybe(0.6)) item["score"] = { N: this.pick(...numbers) };
    return item;
  }

  private path(to: Placeholders): string {
    const attribute = this.pick(...attributes);
    const head = this.maybe(0.3) ? to.name(attribute) : attribute;
    return this.maybe(0.35) ? head + this.pick(".a", ".bb", ".x", ".x.y", "[0]", "[1]", "[2]", "[0].a", ".a[1]") : head;
  }

  private operand(to: Placeholders): string {
    return this.pick<() => string>(
      () => this.path(to),
      () => this.path(to),
      () => to.value(this.value(1)),
      () => `size(${this.path(to)})`,
    )();
  }

  private condition(to: Placeholders, depth = 0): string {
    const inner = () => this.condition(to, depth + 1);
    if (depth < 2 && this.maybe(0.4)) {
      return this.pick<() => string>(
        () => `${inner()} AND ${inner()}`,
        () => `${inner()} OR ${inner()}`,
        () => `NOT ${inner()}`,
        () => `(${inner()})`,
      )();
    }
    const scalar = () => to.value(this.scalar());
    return this.pick<() => string>(
      () => `${this.operand(to)} ${this.pick(...comparators)} ${this.operand(to)}`,
      () => `${this.operand(to)} ${this.pick(...comparators)} ${scalar()}`,
      () => `${this.path(to)} BETWEEN ${scalar()} AND ${scalar()}`,
      () => `${this.operand(to)} IN (${[this.operand(to), ...this.list(3, () => this.operand(to))].join(", ")})`,
      () => `attribute_exists(${this.path(to)})`,
      () => `attribute_not_exists(${this.path(to)})`,
      () =>
        `attribute_type(${this.path(to)}, ${to.value({ S: this.pick("S", "N", "L", "M", "SS", "BOOL", "NULL", "B", "Z") })})`,
      () => `begins_with(${this.operand(to)}, ${scalar()})`,
      () => `contains(${this.path(to)}, ${this.operand(to)})`,
    )();
  }

  private term(to: Placeholders, depth = 0): string {
    const inner = () => this.term(to, depth + 1);
    const deeper = depth < 2;
    return this.pick<() => string>(
      () => to.value(this.value(1)),
      () => to.value({ N: this.pick(...numbers) }),
      () => this.path(to),
      () => (deeper ? `if_not_exists(${this.path(to)}, ${inner()})` : this.path(to)),
      () => (deeper ? `list_append(${inner()}, ${inner()})` : this.path(to)),
    )();
  }

  private updateExpression(to: Placeholders): string {
    const atLeastOne = (make: () => string) => [make(), ...this.list(2, make)].join(", ");
    const set = () => {
      const target = this.path(to);
      return `${target} = ${this.maybe(0.3) ? `${this.term(to)} ${this.pick("+", "-")} ${this.term(to)}` : this.term(to)}`;
    };
    const operand = (...sets: readonly Value[]) => to.value(this.pick(...sets, this.value(1)));
    const sections = [
      this.maybe(0.6) ? `SET ${atLeastOne(set)}` : "",
      this.maybe(0.3) ? `REMOVE ${atLeastOne(() => this.path(to))}` : "",
      this.maybe(0.3) ? `ADD ${this.path(to)} ${operand({ N: "1" }, { SS: ["a", "q"] }, { NS: ["1", "9"] })}` : "",
      this.maybe(0.2) ? `DELETE ${this.path(to)} ${operand({ SS: ["a"] }, { SS: ["a", "b"] }, { NS: ["1"] })}` : "",
    ].filter((section) => section !== "");
    return sections.length > 0 ? sections.join(" ") : "REMOVE a";
  }

  private conditional(to: Placeholders, probability: number): object {
    return this.maybe(probability) ? { ConditionExpression: this.condition(to) } : {};
  }

  private put(): RandomRequest {
    const to = new Placeholders();
    const input = { TableName: this.table, Item: this.item(), ...this.conditional(to, 0.3), ...this.returns(0.3) };
    return { operation: "PutItem", input: to.complete(input) };
  }

  private delete(): RandomRequest {
    const to = new Placeholders();
    const input = { TableName: this.table, Key: this.key(), ...this.conditional(to, 0.5), ...this.returns(0.5) };
    return { operation: "DeleteItem", input: to.complete(input) };
  }

  private returns(probability: number): object {
    return this.maybe(probability)
      ? { ReturnValues: "ALL_OLD", ReturnValuesOnConditionCheckFailure: this.pick("ALL_OLD", "NONE") }
      : {};
  }

  private update(): RandomRequest {
    const to = new Placeholders();
    const input = {
      TableName: this.table,
      Key: this.key(),
      UpdateExpression: this.updateExpression(to),
      ...this.conditional(to, 0.2),
      ReturnValues: this.pick("ALL_NEW", "ALL_OLD", "NONE"),
    };
    return { operation: "UpdateItem", input: to.complete(input) };
  }

  private get(): RandomRequest {
    const to = new Placeholders();
    const input = {
      TableName: this.table,
      Key: this.key(),
      ConsistentRead: this.maybe(0.3),
      ReturnConsumedCapacity: "TOTAL",
      ...this.projected(to, 0.7),
    };
    return { operation: "GetItem", input: to.complete(input) };
  }

  private projected(to: Placeholders, probability: number): object {
    if (!this.maybe(probability)) return {};
    return { ProjectionExpression: [this.path(to), ...this.list(3, () => this.path(to))].join(", ") };
  }

  private query(): RandomRequest {
    const to = new Placeholders();
    const index = this.pick(undefined, "gsi", "lsi");
    const [hash, range] = index === "gsi" ? ["g", "score"] : ["pk", index === "lsi" ? "g" : "sk"];
    const bound = () => to.value(range === "g" ? { S: this.pick("g", "h", "a") } : { N: this.pick(...numbers) });
    const onHash = `${hash} = ${to.value({ S: hash === "g" ? "g" : this.pick("p", "q") })}`;
    const onRange = this.pick<() => string>(
      () => "",
      () => ` AND ${range} ${this.pick("=", "<", "<=", ">", ">=")} ${bound()}`,
      () => ` AND ${range} BETWEEN ${bound()} AND ${bound()}`,
      () => ` AND begins_with(${range}, ${bound()})`,
    )();
    const input = {
      TableName: this.table,
      IndexName: index,
      KeyConditionExpression: onHash + onRange,
      ...(this.maybe(0.4) ? { FilterExpression: this.condition(to) } : {}),
      ...this.projected(to, 0.3),
      ScanIndexForward: this.maybe(0.5),
      ConsistentRead: this.maybe(0.1),
    };
    return { operation: "Query", input: to.complete(input) };
  }

  private scan(): RandomRequest {
    const to = new Placeholders();
    const input = {
      TableName: this.table,
      IndexName: this.maybe(0.3) ? "lsi" : undefined,
      ...(this.maybe(0.7) ? { FilterExpression: this.condition(to) } : {}),
      ...this.projected(to, 0.4),
    };
    return { operation: "Scan", input: to.complete(input) };
  }

  private transaction(): RandomRequest {
    const action = () => {
      const to = new Placeholders();
      const TableName = this.table;
      return this.pick<() => object>(
        () => ({ Put: to.complete({ TableName, Item: this.item(), ...this.conditional(to, 0.3) }) }),
        () => ({ Delete: to.complete({ TableName, Key: this.key(), ...this.conditional(to, 0.3) }) }),
        () => ({ ConditionCheck: to.complete({ TableName, Key: this.key(), ...this.conditional(to, 1) }) }),
        () => ({ Update: to.complete({ TableName, Key: this.key(), UpdateExpression: this.updateExpression(to) }) }),
      )();
    };
    return { operation: "TransactWriteItems", input: { TransactItems: [action(), ...this.list(3, action)] } };
  }
}
