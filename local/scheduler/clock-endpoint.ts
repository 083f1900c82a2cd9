import type { IncomingMessage, ServerResponse } from "node:http";
import { isObject } from "../json";
import { parseObject, readBody, ServiceError, sendError, sendJson, validation } from "../wire";
import type { MovableClock } from "./movable-clock";

/** The maximum advance: ten years. */
const maxSeconds = 315_360_000;

/**
 * Creates the endpoint of the Scheduler's clock, which is for trying out schedules. `GET` returns its time. `POST
 * {"advanceSeconds": 86400}` advances it until the stack ends. AWS has no such endpoint.
 */
export function clockEndpoint(clock: MovableClock) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      if (request.method === "POST") clock.advance((await advanceOf(request)) * 1000);
      sendJson(response, 200, { now: new Date(clock.now()).toISOString(), aheadSeconds: clock.aheadMs / 1000 });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      sendError(response, error, "message");
    }
  };
}

async function advanceOf(request: IncomingMessage): Promise<number> {
  const body = parseObject(await readBody(request, 1_000), validation);
  const seconds = isObject(body) ? body["advanceSeconds"] : undefined;
  if (typeof seconds === "number" && seconds > 0 && seconds <= maxSeconds) return seconds;
  throw validation(
    `advanceSeconds is ${JSON.stringify(seconds)}, but must be a number above 0 and at most ${maxSeconds}.`,
  );
}
