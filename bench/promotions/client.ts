/** A process that changes a model. It runs all its orders concurrently, and reports the result of each. It may be killed at any time. */
import { createInterface } from "node:readline";
import { RingmasterError } from "../../core/errors";
import type { Operation } from "../../test/core/registry/check/operation";
import { perform } from "../../test/core/registry/check/perform";
import { runChild, say } from "../support/child";
import type { Answer, Order } from "./protocol";
import { connection, connectRegistry } from "./registry";

runChild(async () => {
  const connected = connectRegistry(connection(process.argv[2]!));
  const answer = async (model: string, operation: Operation): Promise<void> => {
    const ended = await perform(connected.registry, model, operation).then(
      () => "done",
      (error: unknown) => (error instanceof RingmasterError ? error.code : `${error}`),
    );
    say({ id: operation.id, answer: ended, lostRaces: connected.lostRaces() } satisfies Answer);
  };
  for await (const line of createInterface({ input: process.stdin })) {
    const { model, operations } = JSON.parse(line) as Order;
    for (const operation of operations) void answer(model, operation);
  }
});
