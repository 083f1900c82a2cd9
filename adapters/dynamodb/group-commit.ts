import { type DynamoDBDocumentClient, PutCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { holds, isTransactionConditionFailed, isTransactionConflict } from "./client";

/**
 * The maximum number of puts per request. DynamoDB's limits are 100 items and 4 MB. Smaller requests keep the waiting
 * time of later calls short.
 */
const maxPuts = 50;
const maxBytes = 1024 * 1024;

interface Put {
  readonly item: Record<string, unknown>;
  readonly bytes: number;
  readonly settle: (created: boolean) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Creates items of one table, each under the condition that its key does not exist. Items that arrive while a request
 * is in progress are sent together in the next one, as a transaction. A process with one call at a time, like an AWS
 * Lambda function, never groups.
 */
export class GroupCommit {
  private waiting: Put[] = [];
  private busy = false;

  constructor(
    private readonly client: DynamoDBDocumentClient,
    private readonly table: string,
  ) {}

  /** Creates an item. Returns false if its key exists. Two waiting items must not have the same key. */
  create(item: Record<string, unknown>, bytes: number): Promise<boolean> {
    const created = new Promise<boolean>((settle, fail) => {
      this.waiting.push({ item, bytes, settle, fail });
    });
    if (!this.busy) void this.pump();
    return created;
  }

  private async pump(): Promise<void> {
    this.busy = true;
    while (this.waiting.length > 0) {
      const puts = this.takeSome();
      if (puts.length === 1 || !(await this.putTogether(puts)))
        await Promise.all(puts.map((put) => this.putAlone(put)));
    }
    this.busy = false;
  }

  private takeSome(): Put[] {
    let bytes = 0;
    let count = 0;
    for (const put of this.waiting) {
      bytes += put.bytes;
      if (count > 0 && (count >= maxPuts || bytes > maxBytes)) break;
      count += 1;
    }
    return this.waiting.splice(0, count);
  }

  /** Creates items in one transaction. Returns false if nothing was written because one of them failed. */
  private async putTogether(puts: readonly Put[]): Promise<boolean> {
    try {
      await this.client.send(
        new TransactWriteCommand({ TransactItems: puts.map(({ item }) => ({ Put: this.conditional(item) })) }),
      );
      for (const { settle } of puts) settle(true);
      return true;
    } catch (error) {
      if (isTransactionConditionFailed(error) || isTransactionConflict(error)) return false;
      for (const { fail } of puts) fail(error);
      return true;
    }
  }

  private async putAlone({ item, settle, fail }: Put): Promise<void> {
    await holds(this.client.send(new PutCommand(this.conditional(item)))).then(settle, fail);
  }

  private conditional(item: Record<string, unknown>) {
    return { TableName: this.table, Item: item, ConditionExpression: "attribute_not_exists(pk)" };
  }
}
