/** A process of those that change a model: it does what it is told, some of it at the same time, and says how each thing ended. It may be killed at any instant. */
import { createInterface } from "node:readline";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { createDocumentClient } from "../../adapters/dynamodb/client";
import { pauseBeforeRound } from "../../adapters/dynamodb/contention";
import { createModelRepository } from "../../adapters/dynamodb/model-repository";
import { RingmasterError } from "../../core/errors";
import { createRegistry } from "../../core/registry/registry";
import { perform } from "../../test/core/registry/check/perform";
import { runChild, say } from "../support/child";
import { type Answer, connection, type Order, table, team } from "./protocol";

/** As many requests as a function's instances of one team have in the air; the rest wait their turn, as they do at a gateway. */
const atOnce = 6;

runChild(async () => {
  const client = createDocumentClient(new DynamoDBClient(connection(process.argv[2]!)));
  for await (const line of createInterface({ input: process.stdin })) {
    const { model, operations } = JSON.parse(line) as Order;
    const waiting = [...operations];
    const work = async (): Promise<void> => {
      for (let operation = waiting.shift(); operation !== undefined; operation = waiting.shift()) {
        let rounds = 1;
        const registry = createRegistry(createModelRepository(client, table, team), (round) => {
          rounds += 1;
          return pauseBeforeRound(round);
        });
        const answer = await perform(registry, model, operation).then(
          () => "done",
          (error: unknown) => (error instanceof RingmasterError ? error.code : `${error}`),
        );
        say({ id: operation.id, answer, rounds } satisfies Answer);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  }
});
