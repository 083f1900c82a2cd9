import { type DynamoDBDocumentClient, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { sharedPort } from "../port";
import { documents, isTransactionConditionFailed, isTransactionConflict, pauseBeforeRound } from "./client";

/** The maximum number of items per request. DynamoDB's limits are 100 items and 4 MB. */
const maxItems = 99;
const maxBytes = 1024 * 1024;
/** The number of retries after a conflict with another transaction. */
const rounds = 10;

/** All rows of one new run, in any tables. */
export interface RunCreation {
  readonly runId: string;
  /** The puts, each with or without its own condition. */
  readonly puts: readonly {
    readonly TableName: string;
    readonly Item: Record<string, unknown>;
    readonly ConditionExpression?: string;
  }[];
  /** The approximate size of all rows. */
  readonly bytes: number;
}

interface Waiting extends RunCreation {
  readonly settle: (created: boolean) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Creates runs, all rows of each or none. Runs that arrive while a request is in progress are created together in the
 * next one: a client that creates a thousand runs concurrently waits for about thirty requests. A transaction costs
 * twice the write units of its puts, but it saves requests, which take most of the time.
 */
export class RunCreations {
  private waiting: Waiting[] = [];
  private busy = false;

  constructor(private readonly client: DynamoDBDocumentClient) {}

  /** Creates a run. Returns `false` if a condition does not hold, and nothing was written. */
  create(creation: RunCreation): Promise<boolean> {
    const created = new Promise<boolean>((settle, fail) => {
      this.waiting.push({ ...creation, settle, fail });
    });
    if (!this.busy) void this.pump();
    return created;
  }

  private async pump(): Promise<void> {
    this.busy = true;
    while (this.waiting.length > 0) {
      const group = this.takeSome();
      if (group.length === 1 || !(await this.putTogether(group)))
        await Promise.all(group.map((one) => this.putAlone(one)));
    }
    this.busy = false;
  }

  /**
   * Takes creations for one transaction. A transaction may contain a row only once, so a second creation of a run waits
   * for the next one.
   */
  private takeSome(): Waiting[] {
    const taken: Waiting[] = [];
    const runIds = new Set<string>();
    let [items, bytes] = [0, 0];
    const left = this.waiting.filter((one) => {
      const full = items + one.puts.length > maxItems || bytes + one.bytes > maxBytes;
      if (taken.length > 0 && (full || runIds.has(one.runId))) return true;
      items += one.puts.length;
      bytes += one.bytes;
      runIds.add(one.runId);
      taken.push(one);
      return false;
    });
    this.waiting = left;
    return taken;
  }

  /** Creates runs in one transaction. Returns `false` if nothing was written because one of them failed. */
  private async putTogether(group: readonly Waiting[]): Promise<boolean> {
    try {
      await this.send(group);
      for (const { settle } of group) settle(true);
      return true;
    } catch (error) {
      if (isTransactionConditionFailed(error) || isTransactionConflict(error)) return false;
      for (const { fail } of group) fail(error);
      return true;
    }
  }

  private async putAlone(one: Waiting): Promise<void> {
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

  private async send(group: readonly RunCreation[]): Promise<void> {
    const TransactItems = group.flatMap(({ puts }) => puts.map((Put) => ({ Put })));
    await this.client.send(new TransactWriteCommand({ TransactItems }));
  }
}

export const runCreations = sharedPort({
  uses: { documents: documents() },
  make: ({ documents }) => new RunCreations(documents),
});
