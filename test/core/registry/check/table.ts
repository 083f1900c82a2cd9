import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
} from "@aws-sdk/lib-dynamodb";

type Item = Readonly<Record<string, unknown>> & { readonly pk: string; readonly sk: string };

/** One step of a process: it waits here until it is its turn, and for ever where it is killed. */
export type Turn = (what: "before" | "after" | "within") => Promise<void>;

/**
 * A table as DynamoDB promises it: a transaction is done whole or not at all, a strongly consistent GetItem sees the last one, a Query reads
 * item by item and may see half of one. Conditions are the two that the registry uses; another is an error.
 */
export class MemoryTable {
  private readonly itemsByKey = new Map<string, Item>();
  private readonly written: (() => void)[] = [];
  overwritten: string[] = [];

  onWrite(listener: () => void): void {
    this.written.push(listener);
  }

  items(): readonly Item[] {
    return [...this.itemsByKey.keys()].sort().map((key) => this.itemsByKey.get(key)!);
  }

  /** @param conflicts whether a transaction meets another one now, and is cancelled */
  client(turn: Turn, conflicts: () => boolean): DynamoDBDocumentClient {
    const send = async (command: unknown): Promise<object> => {
      await turn("before");
      if (command instanceof GetCommand) {
        const { pk, sk } = command.input.Key!;
        return { Item: this.itemsByKey.get(`${pk} ${sk}`) };
      }
      if (command instanceof QueryCommand) return { Items: await this.query(command, turn) };
      if (command instanceof DeleteCommand) {
        const { pk, sk } = command.input.Key!;
        this.itemsByKey.delete(`${pk} ${sk}`);
        await turn("after");
        return {};
      }
      if (!(command instanceof TransactWriteCommand)) throw new Error("the table knows no such command");
      if (conflicts()) throw cancelled(["TransactionConflict"]);
      this.transact(command);
      await turn("after");
      return {};
    };
    return { send } as unknown as DynamoDBDocumentClient;
  }

  private async query({ input }: QueryCommand, turn: Turn): Promise<readonly Item[]> {
    const { ":v0": pk, ":v1": prefix } = input.ExpressionAttributeValues!;
    const keys = [...this.itemsByKey.keys()].filter((key) => key.startsWith(`${pk} ${prefix}`)).sort();
    if (input.ScanIndexForward === false) keys.reverse();
    const found: Item[] = [];
    for (const key of keys) {
      if (found.length % 3 === 1) await turn("within");
      found.push(this.itemsByKey.get(key)!);
    }
    return found;
  }

  private transact({ input }: TransactWriteCommand): void {
    const puts = input.TransactItems!.map(({ Put }) => {
      if (!Put?.Item) throw new Error("the table knows Put alone");
      return { ...Put, Item: JSON.parse(JSON.stringify(Put.Item)) as Item };
    });
    const reasons = puts.map(({ Item, ConditionExpression, ExpressionAttributeValues: values }) => {
      const found = this.itemsByKey.get(`${Item.pk} ${Item.sk}`);
      switch (ConditionExpression) {
        case undefined:
          return "None";
        case "attribute_not_exists(pk)":
          return found === undefined ? "None" : "ConditionalCheckFailed";
        case "revision = :v0":
          return found?.["revision"] === values?.[":v0"] ? "None" : "ConditionalCheckFailed";
        default:
          throw new Error(`the table knows no condition ${ConditionExpression}`);
      }
    });
    if (reasons.some((reason) => reason !== "None")) throw cancelled(reasons);
    for (const { Item } of puts) {
      const key = `${Item.pk} ${Item.sk}`;
      if (this.itemsByKey.has(key) && !/^(MODEL$|VERSION#)/.test(Item.sk)) this.overwritten.push(key);
      this.itemsByKey.set(key, Item);
    }
    for (const listener of this.written) listener();
  }
}

function cancelled(reasons: readonly string[]): Error {
  const error = new Error(`Transaction cancelled: [${reasons}]`);
  error.name = "TransactionCanceledException";
  return Object.assign(error, { CancellationReasons: reasons.map((Code) => ({ Code })) });
}
