import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

export interface Counted {
  readonly client: DynamoDBDocumentClient;
  /** Items put or updated. */
  written(): number;
  /** Number of items that reads returned. */
  read(): number;
  requests(): number;
  reset(): void;
}

interface Input {
  readonly Item?: unknown;
  readonly UpdateExpression?: string;
  readonly RequestItems?: Readonly<Record<string, unknown>>;
  readonly TransactItems?: readonly unknown[];
}

interface Output {
  readonly Item?: unknown;
  readonly Items?: readonly unknown[];
  readonly Responses?: Readonly<Record<string, readonly unknown[]>>;
}

const lengths = (lists: Readonly<Record<string, readonly unknown[]>> = {}): number =>
  Object.values(lists).reduce((sum, list) => sum + list.length, 0);

/** Wraps a client to count its requests' items. */
export function countingClient(client: DynamoDBDocumentClient): Counted {
  let [written, read, requests] = [0, 0, 0];
  const send = async (command: { readonly input: Input }) => {
    requests += 1;
    const { Item, UpdateExpression, TransactItems, RequestItems } = command.input;
    if (Item !== undefined || UpdateExpression !== undefined) written += 1;
    written += TransactItems?.length ?? 0;
    // Keys of reads are in an object, items of writes in a list.
    written += Object.values(RequestItems ?? {}).flatMap((of) => (Array.isArray(of) ? of : [])).length;
    const answer = (await client.send(command as never)) as Output;
    read += (answer.Item ? 1 : 0) + (answer.Items?.length ?? 0) + lengths(answer.Responses);
    return answer;
  };
  return {
    client: { send } as unknown as DynamoDBDocumentClient,
    written: () => written,
    read: () => read,
    requests: () => requests,
    reset() {
      [written, read, requests] = [0, 0, 0];
    },
  };
}
