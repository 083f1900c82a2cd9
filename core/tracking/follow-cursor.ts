import { deflateRawSync, inflateRawSync } from "node:zlib";
import * as z from "zod";
import { InvalidInputError } from "../errors";
import type { SeriesPosition } from "./metric-store";

/**
 * The position of a follower: for each metric the last point that it received, and whether it received the run's end.
 */
export interface FollowCursor {
  readonly positions: ReadonlyMap<string, SeriesPosition>;
  readonly ended: boolean;
}

export const beginning: FollowCursor = { positions: new Map(), ended: false };

/**
 * Maximum size when uncompressed: a name of 200 characters and two numbers, for as many metrics as a run may send in a
 * batch.
 */
const maxInflatedBytes = 256 * 1024;

const count = z.int().min(-1);
const content = z.strictObject({ end: z.boolean().optional(), at: z.record(z.string(), z.tuple([count, count])) });

/**
 * Encodes a cursor as an event id: an opaque text of 20 to 2,000 characters, because a browser sends it back in a
 * header. The text is compressed, because a run's metrics have similar names and steps.
 */
export function encodeCursor({ positions, ended }: FollowCursor): string {
  const at = Object.fromEntries([...positions].map(([metric, { step, item }]) => [metric, [step, item]]));
  return deflateRawSync(JSON.stringify(ended ? { end: true, at } : { at })).toString("base64url");
}

/**
 * Decodes an event id.
 *
 * @throws InvalidInputError for an id that no stream has sent
 */
export function decodeCursor(id: string): FollowCursor {
  try {
    const text = inflateRawSync(Buffer.from(id, "base64url"), { maxOutputLength: maxInflatedBytes }).toString("utf8");
    const { at, end } = content.parse(JSON.parse(text));
    const positions = new Map(Object.entries(at).map(([metric, [step, item]]) => [metric, { step, item }]));
    return { positions, ended: end === true };
  } catch (cause) {
    const rule = "must be the id of an event of this stream";
    throw new InvalidInputError("the stream cannot be resumed", [{ path: "last-event-id", value: id, rule }], cause);
  }
}
