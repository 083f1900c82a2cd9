import { createClient } from "../../client/api-client";
import { parseEvents, type RunEvent } from "../../client/follow";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("the parser", () => {
  async function parse(...chunks: readonly (string | Uint8Array)[]) {
    const found: unknown[] = [];
    const bytes = (async function* () {
      for (const chunk of chunks) yield typeof chunk === "string" ? encode(chunk) : chunk;
    })();
    for await (const { event, id, data } of parseEvents(bytes)) found.push([event, id, data]);
    return found;
  }

  it.each<readonly [string, readonly (string | Uint8Array)[], readonly unknown[]]>([
    ["an event", ["event: run\nid: 7\ndata: {}\n\n"], [["run", "7", "{}"]]],
    ["no name, no blank", ["data:x\n\n"], [["message", undefined, "x"]]],
    ["several lines of data", ["data: a\ndata: b\n\n"], [["message", undefined, "a\nb"]]],
    ["comments and fields that it does not know", [": alive\n\nretry: 5\ndata: x\n\n"], [["message", undefined, "x"]]],
    [
      "an id that stays",
      ["id: 1\ndata: a\n\ndata: b\n\n"],
      [
        ["message", "1", "a"],
        ["message", "1", "b"],
      ],
    ],
    ["CRLF, cut in two", ["data: a\r", "\n\r\n"], [["message", undefined, "a"]]],
    [
      "cut anywhere",
      ["da", "ta: a\n", "\nda", "ta: b\n\n"],
      [
        ["message", undefined, "a"],
        ["message", undefined, "b"],
      ],
    ],
    ["a letter cut in two", [encode("data: ä").slice(0, 7), encode("ä\n\n").slice(1)], [["message", undefined, "ä"]]],
    ["what is not finished", ["data: a\n\ndata: b\n"], [["message", undefined, "a"]]],
  ])("reads %s", async (_name, chunks, expected) => expect(await parse(...chunks)).toEqual(expected));
});

const event = (name: string, id: string | undefined, data: object) =>
  `event: ${name}\n${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
const broken = (text: string) =>
  new Response(
    new ReadableStream({
      start(controller) {
        controller.enqueue(encode(text));
        setImmediate(() => controller.error(new TypeError("terminated")));
      },
    }),
  );

/** A client whose connections answer from a list; with the ids that each connection went on from. */
function clientOf(answers: readonly (Response | Error)[]) {
  const from: (string | undefined)[] = [];
  const pauses: number[] = [];
  const client = createClient({
    baseUrl: "http://api.test",
    random: () => 0.5,
    sleep: async (milliseconds) => void pauses.push(milliseconds),
    fetch: async (_url, init) => {
      const answer = answers[from.length] ?? new Error("called too often");
      const headers = init?.headers as Record<string, string>;
      expect(headers["accept"]).toBe("text/event-stream");
      from.push(headers["last-event-id"]);
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });
  const listen = async (): Promise<readonly RunEvent["event"][]> => {
    const heard: RunEvent["event"][] = [];
    for await (const one of client.followRun("run-1")) heard.push(one.event);
    return heard;
  };
  return { listen, client, from, pauses };
}

const end = event("end", "9", { status: "completed" });

it("hears a run to its end", async () => {
  const { listen, from } = clientOf([
    new Response(event("run", undefined, {}) + event("metrics", "1", { metrics: [] }) + end),
  ]);
  expect(await listen()).toEqual(["run", "metrics", "end"]);
  expect(from).toEqual([undefined]);
});

it("goes on behind the last event, at once where the stream ended and after a pause where it broke", async () => {
  const { listen, from, pauses } = clientOf([
    new Response(event("metrics", "1", { metrics: [] })),
    broken(event("metrics", "2", { metrics: [] })),
    Response.json({ error: { code: "BAD_GATEWAY", message: "later" } }, { status: 502 }),
    new Response(end),
  ]);
  expect(await listen()).toEqual(["metrics", "metrics", "end"]);
  expect(from).toEqual([undefined, "1", "2", "2"]);
  expect(pauses).toEqual([100, 200]);
});

it("is done where there is nothing more", async () => {
  expect(await clientOf([new Response(null, { status: 204 })]).listen()).toEqual([]);
});

it("does not go on where the API refuses, nor for ever where it is away", async () => {
  const refusal = Response.json({ error: { code: "RUN_NOT_FOUND", message: "none" } }, { status: 404 });
  await expect(clientOf([refusal]).listen()).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
  const away = clientOf(Array.from({ length: 9 }, () => new TypeError("fetch failed")));
  await expect(away.listen()).rejects.toMatchObject({ code: "API_UNREACHABLE" });
  expect(away.from).toHaveLength(4);
});

it("does not hurry where streams end without a word", async () => {
  const silent = clientOf(Array.from({ length: 9 }, () => new Response(": alive\n\n")));
  await expect(silent.listen()).rejects.toMatchObject({ code: "API_UNREACHABLE" });
  expect(silent.pauses).toEqual([100, 200, 400]);
});

it("closes the connection where the listener goes", async () => {
  let closed = false;
  const endless = new ReadableStream({
    start: (controller) => controller.enqueue(encode(event("run", undefined, {}))),
    cancel: () => {
      closed = true;
    },
  });
  for await (const _ of clientOf([new Response(endless)]).client.followRun("run-1")) break;
  expect(closed).toBe(true);
});
