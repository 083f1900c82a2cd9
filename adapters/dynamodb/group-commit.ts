import { type DynamoDBDocumentClient, PutCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { sharedPort } from "../port";
import { documents, holds, isTransactionConditionFailed, isTransactionConflict, pauseBeforeRound } from "./client";
import type { Item } from "./table";

/** DynamoDB's limits are 100 items and 4 MB. */
const maxItems = 99;
const maxBytes = 1024 * 1024;
const rounds = 10;

export interface RowGroup {
  /** Groups with the same key are never sent in one request, because a transaction may contain a row only once. */
  readonly key: string;
  readonly puts: readonly {
    readonly TableName: string;
    readonly Item: Item;
    readonly ConditionExpression?: string;
  }[];
  readonly bytes: number;
}

interface Waiting extends RowGroup {
  readonly settle: (written: boolean) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Writes groups of rows, all rows of each or none. Groups that arrive during a request are sent together in the next
 * one: a client that creates a thousand runs concurrently waits for about thirty requests, at twice the write units.
 */
export class GroupCommit {
  private waiting: Waiting[] = [];
  private busy = false;

  /** @param limit the maximum number of rows per request. Smaller requests keep the waiting time of later calls short. */
  constructor(
    private readonly client: DynamoDBDocumentClient,
    private readonly limit = maxItems,
  ) {}

  /** Writes rows. Returns `false` if a condition does not hold, and nothing was written. */
  write(rows: RowGroup): Promise<boolean> {
    const written = new Promise<boolean>((settle, fail) => {
      this.waiting.push({ ...rows, settle, fail });
    });
    if (!this.busy) void this.pump();
    return written;
  }

  private async pump(): Promise<void> {
    this.busy = true;
    while (this.waiting.length > 0) {
      const groups = this.takeSome();
      if (groups.length === 1 || !(await this.writeTogether(groups)))
        await Promise.all(groups.map((one) => this.writeAlone(one)));
    }
    this.busy = false;
  }

  private takeSome(): Waiting[] {
    const taken: Waiting[] = [];
    const keys = new Set<string>();
    let [items, bytes] = [0, 0];
    this.waiting = this.waiting.filter((one) => {
      const full = items + one.puts.length > this.limit || bytes + one.bytes > maxBytes;
      if (taken.length > 0 && (full || keys.has(one.key))) return true;
      items += one.puts.length;
      bytes += one.bytes;
      keys.add(one.key);
      taken.push(one);
      return false;
    });
    return taken;
  }

  /** Writes groups in one transaction. Returns `false` if nothing was written because one of the groups failed. */
  private async writeTogether(groups: readonly Waiting[]): Promise<boolean> {
    try {
      await this.send(groups);
      for (const { settle } of groups) settle(true);
      return true;
    } catch (error) {
      if (isTransactionConditionFailed(error) || isTransactionConflict(error)) return false;
      for (const { fail } of groups) fail(error);
      return true;
    }
  }

  private async writeAlone(one: Waiting): Promise<void> {
    const [put, ...others] = one.puts;
    if (put && others.length === 0) return holds(this.client.send(new PutCommand(put))).then(one.settle, one.fail);
    for (let round = 1; ; round += 1) {
      try {
        await this.send([one]);
        return one.settle(true);
      } catch (error) {
        if (isTransactionConditionFailed(error)) return one.settle(false);
        if (!isTransactionConflict(error) || round === rounds) return one.fail(error);
        await pauseBeforeRound(round);
      }
    }
  }

  private async send(groups: readonly RowGroup[]): Promise<void> {
    const TransactItems = groups.flatMap(({ puts }) => puts.map((Put) => ({ Put })));
    await this.client.send(new TransactWriteCommand({ TransactItems }));
  }
}

export const runCreations = sharedPort({
  uses: { documents: documents() },
  make: ({ documents }) => new GroupCommit(documents),
});
