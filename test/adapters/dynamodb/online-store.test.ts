import type { BatchGetCommand, DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { createOnlineStore } from "../../../adapters/dynamodb/feature-store";
import { Table } from "../../../adapters/dynamodb/table";

const rows = { name: "customers", generation: 1 };

describe("the online store", () => {
  /** The requests to DynamoDB that wait for an answer. */
  let requests: { keys: readonly { pk: string }[]; answer: () => void; fail: (error: Error) => void }[];
  let store: ReturnType<typeof createOnlineStore>;

  beforeEach(() => {
    requests = [];
    const send = ({ input }: BatchGetCommand) =>
      new Promise((settle, fail) => {
        const keys = input.RequestItems?.["features"]?.Keys as { pk: string }[];
        const items = keys.map(({ pk }) => ({ pk, key: pk, rank: "1", eventTime: 0, content: JSON.stringify({ pk }) }));
        requests.push({ keys, answer: () => settle({ Responses: { features: items } }), fail });
      });
    store = createOnlineStore(new Table({ send } as unknown as DynamoDBDocumentClient, "features"), "default");
  });

  /** Waits for the next turn of the event loop, after the requests of this one. */
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const read = async (key: string) => (await store.get(rows, [key]))[0]?.values["pk"];

  it("sends the reads of one turn of the event loop together, each key once", async () => {
    const reads = [read("a"), read("b"), read("a")];
    await turn();
    expect(requests.map(({ keys }) => keys.length)).toEqual([2]);
    const [a, b] = requests[0]!.keys.map(({ pk }) => pk);
    requests[0]!.answer();
    expect(await Promise.all(reads)).toEqual([a, b, a]);
  });

  it("sends the reads that arrive during a request together in the next one", async () => {
    const first = read("a");
    await turn();
    const others = [read("b"), read("c")];
    await turn();
    expect(requests).toHaveLength(1);
    requests[0]!.answer();
    await first;
    await turn();
    expect(requests.map(({ keys }) => keys.length)).toEqual([1, 2]);
    requests[1]!.answer();
    expect(await Promise.all(others)).toEqual(requests[1]!.keys.map(({ pk }) => pk));
  });

  it("fails all reads of a failed request, and sends the next ones", async () => {
    const reads = Promise.allSettled([read("a"), read("b")]);
    await turn();
    requests[0]!.fail(new Error("no capacity"));
    const failed = { status: "rejected", reason: new Error("no capacity") };
    expect(await reads).toEqual([failed, failed]);
    const next = read("c");
    await turn();
    requests[1]!.answer();
    expect(await next).toBe(requests[1]!.keys[0]!.pk);
  });
});
