import { join } from "node:path";
import { makeDirectory } from "../../adapters/files/directory";
import { type Clock, systemClock } from "../clock";
import type { TargetPorts } from "../events/target";
import { schedulerAccesses } from "../iam/access/json";
import type { Service } from "../service";
import { JsonDatabase } from "../storage/json-database";
import { BodyTooLarge, parseObject, readBody, ServiceError, sendError, sendJson } from "../wire";
import { handleScheduler } from "./api";
import { validation } from "./errors";
import { Schedules } from "./schedules";

export interface SchedulerOptions extends TargetPorts {
  /** The directory of the service's files. */
  readonly dataDirectory: string;
  readonly clock?: Clock;
  /** The directory of the store's seal. The default is the store's directory. */
  readonly seals?: string;
}

export interface SchedulerService extends Service {
  /** Resolves when the schedules are loaded. Requests wait for it. */
  readonly ready: Promise<void>;
  /** Fires the schedules that are due by the clock. Needed only with a clock whose timers do not run. */
  tick(): void;
}

const bodyLimit = 1024 * 1024;

/**
 * Creates EventBridge Scheduler for one machine.
 *
 * @example const scheduler = createScheduler({ dataDirectory, functions: lambda, startExecution, clock });
 */
export function createScheduler(options: SchedulerOptions): SchedulerService {
  const clock = options.clock ?? systemClock;
  makeDirectory(options.dataDirectory);
  const { dataDirectory, seals } = options;
  const db = new JsonDatabase({ directory: join(dataDirectory, "scheduler.level"), store: "scheduler", seals });
  const schedules = new Schedules({ ...options, clock, db });
  const ready = db.open().then(() => schedules.open());
  // The callers that await it get the error. Without callers it must not end the process.
  ready.catch(() => undefined);

  return {
    signingName: "scheduler",
    ready,
    tick: () => schedules.tick(),
    async handle(request, response, caller) {
      try {
        await ready;
        const body = parseObject(await readBody(request, bodyLimit), validation);
        const url = new URL(request.url ?? "/", "http://scheduler");
        const method = request.method ?? "GET";
        if (caller) for (const access of schedulerAccesses(method, url, body)) caller.authorize(access);
        sendJson(response, 200, await handleScheduler(schedules, { method, url, body }));
      } catch (error) {
        const refusal = error instanceof BodyTooLarge ? validation(error.message) : error;
        if (!(refusal instanceof ServiceError)) throw error;
        sendError(response, refusal, "Message");
      }
    },
    async close() {
      await ready.catch(() => undefined);
      await schedules.close();
      await db.close();
    },
  };
}
