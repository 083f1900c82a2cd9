import { systemClock } from "../clock";
import { eventsAccess } from "../iam/access/json";
import { type EventSink, ServiceStore, type StoredService, type StoredServiceOptions } from "../service";
import { serveJson, validation } from "../wire";
import { runOperation } from "./api";
import { Bus } from "./bus";
import { Rules } from "./rules";
import type { ParseSchedule, TargetPorts } from "./target";

export interface EventsOptions extends TargetPorts, StoredServiceOptions {
  readonly parseSchedule: ParseSchedule;
}

/** Events may be put before the service is ready. */
export interface EventsService extends StoredService, EventSink {
  /** Fires the rules that are due by the clock. Needed only with a clock whose timers do not run. */
  tick(): void;
}

const protocol = { maxBytes: 2 * 1024 * 1024, invalid: validation, contentType: "application/x-amz-json-1.1" };

/**
 * Creates EventBridge's default bus for one machine. Rules have patterns or schedules, and events are delivered at
 * least once to functions and state machines.
 *
 * @example const events = createEvents({ dataDirectory, functions: lambda, startExecution, parseSchedule }); events.put({ source:
 * "aws.batch", detailType: "Batch Job State Change", resources: [], detail: { status: "FAILED" } });
 */
export function createEvents(options: EventsOptions): EventsService {
  const clock = options.clock ?? systemClock;
  const store = new ServiceStore("events", options);
  const { db } = store;
  const rules = new Rules(db, options.parseSchedule);
  const bus = new Bus({ ...options, clock, db, rules });
  const ready = store.open(() => rules.open().then(() => bus.start()));

  return {
    signingName: "events",
    ready,
    put: (event) => bus.put([bus.stamp(event)]),
    matches: (event) => bus.matches(bus.stamp(event)),
    tick: () => bus.tick(),
    handle: (request, response, caller) =>
      serveJson(request, response, protocol, async (body) => {
        await ready;
        const name = String(request.headers["x-amz-target"] ?? "").split(".")[1] ?? "";
        caller?.authorize(eventsAccess(name));
        return runOperation({ bus, rules, clock, parseSchedule: options.parseSchedule }, name, body);
      }),
    close: () => store.close(() => bus.close()),
  };
}
