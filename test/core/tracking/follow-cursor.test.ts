import { deflateRawSync } from "node:zlib";
import { InvalidInputError } from "../../../core/errors";
import { beginning, decodeCursor, encodeCursor } from "../../../core/tracking/follow";

const encodeCursorOf = (text: string): string => deflateRawSync(text).toString("base64url");

describe("the id of an event", () => {
  it.each([
    ["the beginning", beginning],
    [
      "some metrics",
      {
        positions: new Map([
          ["train/loss", { step: 12, item: 3 }],
          ["a", { step: -1, item: 0 }],
        ]),
        ended: false,
      },
    ],
    ["the end", { positions: new Map(), ended: true }],
  ])("is %s, again", (_what, cursor) => {
    expect(decodeCursor(encodeCursor(cursor))).toEqual(cursor);
  });

  it("of 64 workers' metrics is still a header", () => {
    const metrics = Array.from({ length: 64 * 6 }, (_, i) => `system/worker-${i >> 3}/metric-number-${i % 8}`);
    const positions = new Map(metrics.map((metric, i) => [metric, { step: 100_000 + (i % 3), item: 99_600 }]));
    expect(encodeCursor({ positions, ended: false }).length).toBeLessThan(2_500);
  });

  it.each([
    ["no id", "%%%"],
    ["an id of another kind", Buffer.from("12").toString("base64url")],
    ["other content", encodeCursorOf('{"at":{"a":[1]}}')],
    ["content that inflates without end", encodeCursorOf(JSON.stringify({ at: { a: "x".repeat(1_000_000) } }))],
  ])("is refused where it is %s", (_what, id) => {
    expect(() => decodeCursor(id)).toThrow(InvalidInputError);
  });
});
