import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

export interface Counted {
  readonly client: DynamoDBDocumentClient;
  /** Items put or updated. */
  written(): number;
  /** Items that reads have brought. */
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

/** A client that counts what it is asked for. */
export function countingClient(client: DynamoDBDocumentClient): Counted {
  let [written, read, requests] = [0, 0, 0];
  const send = async (command: { readonly input: Input }) => {
    requests += 1;
    const { Item, UpdateExpression, TransactItems, RequestItems } = command.input;
    if (Item !== undefined || UpdateExpression !== undefined) written += 1;
    written += TransactItems?.length ?? 0;
    // Of what is read the keys are in an object, of what is written the items are in a list.
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
