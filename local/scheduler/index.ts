import { systemClock } from "../clock";
import type { ParseSchedule, TargetPorts } from "../events/target";
import { schedulerAccesses } from "../iam/access/json";
import { ServiceStore, type StoredService, type StoredServiceOptions } from "../service";
import { serveJson, validation } from "../wire";
import { handleScheduler } from "./api";
import { Schedules } from "./schedules";

export interface SchedulerOptions extends TargetPorts, StoredServiceOptions {
  readonly parseSchedule: ParseSchedule;
}

export interface SchedulerService extends StoredService {
  /** Fires the schedules that are due by the clock. Needed only with a clock whose timers do not run. */
  tick(): void;
}

const protocol = { maxBytes: 1024 * 1024, invalid: validation, messageMember: "Message" } as const;

/**
 * Creates EventBridge Scheduler for one machine.
 *
 * @example const scheduler = createScheduler({ dataDirectory, functions: lambda, startExecution, parseSchedule, clock });
 */
export function createScheduler(options: SchedulerOptions): SchedulerService {
  const clock = options.clock ?? systemClock;
  const store = new ServiceStore("scheduler", options);
  const schedules = new Schedules({ ...options, clock, db: store.db });
  const ready = store.open(() => schedules.open());

  return {
    signingName: "scheduler",
    ready,
    tick: () => schedules.tick(),
    handle: (request, response, caller) =>
      serveJson(request, response, protocol, async (body) => {
        await ready;
        const url = new URL(request.url ?? "/", "http://scheduler");
        const method = request.method ?? "GET";
        if (caller) for (const access of schedulerAccesses(method, url, body)) caller.authorize(access);
        return handleScheduler(schedules, { method, url, body });
      }),
    close: () => store.close(() => schedules.close()),
  };
}
