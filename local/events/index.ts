import { join } from "node:path";
import { makeDirectory } from "../../adapters/files/directory";
import { type Clock, systemClock } from "../clock";
import { eventsAccess } from "../iam/access/json";
import type { EventSink, Service } from "../service";
import { JsonDatabase } from "../storage/json-database";
import { BodyTooLarge, parseObject, readBody, ServiceError, sendError, sendJson } from "../wire";
import { runOperation } from "./api";
import { Bus } from "./bus";
import { validation } from "./errors";
import { Rules } from "./rules";
import type { TargetPorts } from "./target";

export interface EventsOptions extends TargetPorts {
  /** The directory of the service's files. */
  readonly dataDirectory: string;
  readonly clock?: Clock;
  /** The directory of the store's seal. The default is the store's directory. */
  readonly seals?: string;
}

export interface EventsService extends Service, EventSink {
  /** Resolves when rules and undelivered events are loaded. Events may be put before. */
  readonly ready: Promise<void>;
  /** Fires the rules that are due by the clock. Needed only with a clock whose timers do not run. */
  tick(): void;
}

const bodyLimit = 2 * 1024 * 1024;
const contentType = "application/x-amz-json-1.1";

/**
 * Creates EventBridge's default bus for one machine. Rules have patterns or schedules, and events are delivered at
 * least once to functions and state machines.
 *
 * @example const events = createEvents({ dataDirectory, functions: lambda, startExecution }); events.put({ source:
 * "aws.batch", detailType: "Batch Job State Change", resources: [], detail: { status: "FAILED" } });
 */
export function createEvents(options: EventsOptions): EventsService {
  const clock = options.clock ?? systemClock;
  makeDirectory(options.dataDirectory);
  const { dataDirectory, seals } = options;
  const db = new JsonDatabase({ directory: join(dataDirectory, "events.level"), store: "events", seals });
  const rules = new Rules(db);
  const bus = new Bus({ ...options, clock, db, rules });
  const ready = db
    .open()
    .then(() => rules.open())
    .then(() => bus.start());
  // The callers that await it get the error. Without callers it must not end the process.
  ready.catch(() => undefined);

  return {
    signingName: "events",
    ready,
    put: (event) => bus.put([bus.stamp(event)]),
    tick: () => bus.tick(),
    async handle(request, response, caller) {
      try {
        await ready;
        const target = String(request.headers["x-amz-target"] ?? "");
        caller?.authorize(eventsAccess(target.split(".")[1] ?? ""));
        const body = parseObject(await readBody(request, bodyLimit), validation);
        const answer = await runOperation({ bus, rules, clock }, target.split(".")[1] ?? "", body);
        sendJson(response, 200, answer, contentType);
      } catch (error) {
        const refusal = error instanceof BodyTooLarge ? validation(error.message) : error;
        if (!(refusal instanceof ServiceError)) throw error;
        sendError(response, refusal, "message", contentType);
      }
    },
    async close() {
      await ready.catch(() => undefined);
      await bus.close();
      await db.close();
    },
  };
}
