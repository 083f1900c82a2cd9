import { TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { inRounds } from "../../core/backoff";
import { sha256 } from "../../core/digest";
import type { ArmSums, Outcome, OutcomeRepository } from "../../core/registry/serving/sequential-test";
import { outcomesBusy } from "../../core/registry/serving/traffic";
import { catalog } from "../../platform/permissions/grants";
import { cancellationCodes, isTransactionConflict, pauseBeforeRound } from "./client";
import { absent, ex, type Table, teamCatalogPort } from "./table";

/** The number of units in a transaction. With a row of sums for each arm it stays below 100 items. */
const unitsAtOnce = 80;
/** The number of rows of sums per arm, so that concurrent reports seldom update the same row. */
const shards = 8;
const rounds = 24;
/** The time that outcomes are stored, longer than any canary. */
const keptDays = 180;

export function createOutcomeRepository(table: Table, team: string): OutcomeRepository {
  const pk = (model: string, epoch: number): string => `TEAM#${team}#OUTCOMES#${epoch}#${model}`;

  /** Counts new units atomically. @returns those already counted, or `undefined` after a transaction's conflict */
  async function count(
    key: string,
    outcomes: readonly Outcome[],
    expiresAt: number,
  ): Promise<readonly Outcome[] | undefined> {
    const shard = Math.floor(Math.random() * shards);
    const units = outcomes.map(({ unit, version, value }) =>
      // A unit's name may be longer than a key.
      table.putting({ pk: key, sk: `UNIT#${sha256(unit)}`, version, value, expiresAt }, absent),
    );
    const sums = [...sumsOf(outcomes)].map(([version, { units, sum, sumOfSquares }]) =>
      table.updating(
        { pk: key, sk: `ARM#${version}#${shard}` },
        ex`SET version = ${version}, expiresAt = ${expiresAt}
          ADD #units ${units}, #sum ${decimals(sum)}, #sumOfSquares ${decimals(sumOfSquares)}`,
      ),
    );
    try {
      await table.client.send(new TransactWriteCommand({ TransactItems: [...units, ...sums] }));
      return [];
    } catch (error) {
      const codes = cancellationCodes(error);
      const duplicates = outcomes.filter((_, i) => codes[i] === "ConditionalCheckFailed");
      if (duplicates.length > 0) return duplicates;
      if (isTransactionConflict(error)) return undefined;
      throw error;
    }
  }

  async function reportBatch(
    model: string,
    key: string,
    batch: readonly Outcome[],
    expiresAt: number,
  ): Promise<number> {
    let left = batch;
    return inRounds({ rounds, pause: pauseBeforeRound, busy: () => outcomesBusy(model) }, async () => {
      if (left.length === 0) return 0;
      const duplicates = await count(key, left, expiresAt);
      if (duplicates?.length === 0) return left.length;
      left = left.filter((outcome) => !duplicates?.includes(outcome));
      return left.length === 0 ? 0 : undefined;
    });
  }

  return {
    async report(model, epoch, outcomes, at) {
      // The first outcome of a unit counts, also within one request.
      const first = [...new Map(outcomes.toReversed().map((outcome) => [outcome.unit, outcome])).values()];
      const expiresAt = Math.floor(at / 1_000) + keptDays * 86_400;
      let counted = 0;
      for (let from = 0; from < first.length; from += unitsAtOnce) {
        counted += await reportBatch(model, pk(model, epoch), first.slice(from, from + unitsAtOnce), expiresAt);
      }
      return { counted, repeated: outcomes.length - counted };
    },

    async sums(model, epoch) {
      const items = await table.all(ex`pk = ${pk(model, epoch)} AND begins_with(sk, ${"ARM#"})`);
      const sums = new Map<number, ArmSums>();
      for (const item of items as unknown as readonly (ArmSums & { readonly version: number })[]) {
        sums.set(item.version, added(sums.get(item.version), item));
      }
      return sums;
    },
  };
}

/** Rounds so that sums are exact: a million of the largest squares (below 10^24) take 36 of DynamoDB's 38 digits. */
function decimals(value: number): number {
  return Number(value.toFixed(12));
}

function sumsOf(outcomes: readonly Outcome[]): ReadonlyMap<number, ArmSums> {
  const sums = new Map<number, ArmSums>();
  for (const { version, value } of outcomes) {
    sums.set(version, added(sums.get(version), { units: 1, sum: value, sumOfSquares: value * value }));
  }
  return sums;
}

function added(one: ArmSums | undefined, other: ArmSums): ArmSums {
  return {
    units: (one?.units ?? 0) + other.units,
    sum: (one?.sum ?? 0) + other.sum,
    sumOfSquares: (one?.sumOfSquares ?? 0) + other.sumOfSquares,
  };
}

export const outcomes = teamCatalogPort(createOutcomeRepository, {
  use: [catalog("GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem")],
});
