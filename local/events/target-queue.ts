import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../clock";
import { DurableQueue } from "../durable-queue";
import type { JsonDatabase } from "../storage/json-database";
import { deliver, type TargetMessage, type TargetPorts } from "./target";

/**
 * Creates the durable queue of the deliveries of rules and schedules. A delivery that is given up is written to a
 * dead-letter file.
 */
export function createTargetQueue(
  ports: TargetPorts,
  options: {
    readonly db: JsonDatabase;
    readonly clock: Clock;
    readonly dataDirectory: string;
    /** The prefix of the file `<sender>-dead-letters.ndjson`. */
    readonly sender: "events" | "scheduler";
  },
): DurableQueue<TargetMessage> {
  const { db, clock, dataDirectory, sender } = options;
  return new DurableQueue<TargetMessage>({
    db,
    prefix: "delivery!",
    clock,
    deliver: (queued) => deliver(ports, queued, clock.now()),
    giveUp: (queued, error) => {
      const line = JSON.stringify({ time: new Date(clock.now()).toISOString(), ...queued, error });
      appendFileSync(join(dataDirectory, `${sender}-dead-letters.ndjson`), `${line}\n`);
    },
  });
}
