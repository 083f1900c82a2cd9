import * as z from "zod";
import { inRounds, type Pause } from "../../backoff";
import { digestOf } from "../../digest";
import { RingmasterError } from "../../errors";
import { type Clock, isoTime } from "../../ports";
import { instant, type Shape } from "../../shapes";
import type { Page } from "../repository";
import { DataContractChangedError } from "./errors";
import type { DataContract } from "./rules";
import { assertContractFits, dataContract } from "./rules";

export const dataContractRecord = z
  .object({
    dataset: z.string(),
    revision: z.int().min(1).meta({ description: "Number of the contract, from 1. A revision never changes." }),
    contract: dataContract,
    by: z.string(),
    at: instant,
    reason: z.string().optional(),
  })
  .meta({ id: "DataContractRecord", description: "A revision of a dataset's data contract." });
export interface DataContractRecord extends Shape<typeof dataContractRecord> {}

/** The port to the contracts of a team's datasets; docs/access-patterns.md, "Datasets". */
export interface DataContractRepository {
  /** Returns the newest revision. */
  findCurrent(dataset: string): Promise<DataContractRecord | undefined>;
  find(dataset: string, revision: number): Promise<DataContractRecord | undefined>;
  /** Lists revisions, newest first. */
  list(query: {
    readonly dataset: string;
    readonly limit: number;
    readonly nextToken?: string;
  }): Promise<Page<DataContractRecord>>;
  /** Creates a revision; returns false if it exists. */
  create(record: DataContractRecord): Promise<boolean>;
}

const rounds = 8;

/**
 * Sets the contract of a dataset, which need not have a version yet. The same rules are the same revision, however often
 * they are set.
 *
 * @param options.ifRevision the revision that is changed; 0: none
 * @throws DataContractChangedError, InvalidInputError
 */
export async function setDataContract(
  {
    contracts,
    clock,
    pause,
  }: { readonly contracts: DataContractRepository; readonly clock: Clock; readonly pause: Pause },
  dataset: string,
  contract: DataContract,
  options: { readonly actor: string; readonly reason?: string; readonly ifRevision?: number | undefined },
): Promise<{ readonly created: boolean; readonly record: DataContractRecord }> {
  assertContractFits(contract, `the data contract of ${dataset}`);
  const { actor, reason, ifRevision } = options;
  const busy = () =>
    new RingmasterError(
      `the data contract of ${dataset} was changed by others during each of ${rounds} attempts; try again`,
      {
        ...{ code: "DATASET_BUSY", httpStatus: 503, retryable: true, details: { name: dataset, attempts: rounds } },
      },
    );
  return inRounds({ rounds, pause, busy }, async () => {
    const current = await contracts.findCurrent(dataset);
    if (current && digestOf(current.contract) === digestOf(contract)) return { created: false, record: current };
    const revision = current?.revision ?? 0;
    if (ifRevision !== undefined && ifRevision !== revision)
      throw new DataContractChangedError(dataset, ifRevision, revision);
    const stated = reason === undefined || reason === "" ? {} : { reason };
    const record = { dataset, revision: revision + 1, contract, by: actor, at: isoTime(clock), ...stated };
    return (await contracts.create(record)) ? { created: true, record } : undefined;
  });
}
