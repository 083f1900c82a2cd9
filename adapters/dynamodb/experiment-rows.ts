import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { sha256 } from "../../core/digest";
import { experimentTooLarge } from "../../core/tracking/records/errors";
import type { Experiment } from "../../core/tracking/shapes";
import { absent, ex } from "./expression";
import type { Item, Key, Table } from "./table";

/** The maximum bytes of JSON. The rest of DynamoDB's 400 KB is for overhead. */
const maxBytes = 350_000;

/** Tests whether a text can be an experiment's id, which has only one spelling for each number. */
export const canBeExperimentId = (text: string): boolean => /^(0|[1-9]\d{0,11})$/.test(text);

/** The row by which a name is unique and leads to its experiment. */
export interface NameRow {
  readonly name: string;
  readonly experimentId: string;
  /** The request that created the experiment. */
  readonly request?: string | undefined;
}

/** The rows of a team's experiments in table Catalog (docs/access-patterns.md, "Experiments"). */
export class ExperimentRows {
  private readonly pk: string;

  /** @param rounds maximum number of attempts of a transaction that conflicts with another */
  constructor(
    private readonly table: Table,
    team: string,
    private readonly rounds: number,
  ) {
    this.pk = `TEAM#${team}#EXPERIMENTS`;
  }

  async find(experimentId: string): Promise<Experiment | undefined> {
    return (await this.table.get(this.idKey(experimentId)))?.["experiment"] as Experiment | undefined;
  }

  async findName(name: string): Promise<NameRow | undefined> {
    return (await this.table.get(this.nameKey(name))) as NameRow | undefined;
  }

  async all(): Promise<readonly Experiment[]> {
    const rows = await this.table.all(ex`pk = ${this.pk} AND begins_with(sk, ${"EXPERIMENT#"})`);
    return rows.map(({ experiment }) => experiment as Experiment);
  }

  /**
   * Returns the next id. Ids have gaps if a name was taken in the meantime, and concurrent creations do not wait for
   * each other.
   */
  async nextId(): Promise<string> {
    const { Update } = this.table.updating({ pk: this.pk, sk: "COUNTER" }, ex`ADD latest ${1}`);
    const { Attributes } = await this.table.client.send(new UpdateCommand({ ...Update, ReturnValues: "UPDATED_NEW" }));
    return String(Attributes?.["latest"]);
  }

  /** Writes a new experiment. Returns `false` if its id or its name is taken. @throws EXPERIMENT_TOO_LARGE */
  insert(experiment: Experiment, request?: string): Promise<boolean> {
    const { name, experimentId } = experiment;
    const writes = [
      this.table.putting(this.row(experiment), absent),
      this.table.putting(this.nameRow({ name, experimentId, request }), absent),
    ];
    return this.table.transact(writes, this.rounds);
  }

  /**
   * Writes a changed experiment. Returns `false` if another process has changed it in the meantime, or has taken its new
   * name.
   *
   * @throws EXPERIMENT_TOO_LARGE
   */
  replace(before: Experiment, after: Experiment): Promise<boolean> {
    const unchanged = ex`experiment.revision = ${before.revision}`;
    if (after.name === before.name) return this.table.put(this.row(after), unchanged);
    const { name, experimentId } = after;
    const writes = [
      this.table.putting(this.row(after), unchanged),
      this.table.putting(this.nameRow({ name, experimentId }), absent),
      this.table.deleting(this.nameKey(before.name)),
    ];
    return this.table.transact(writes, this.rounds);
  }

  private row(experiment: Experiment): Item {
    const bytes = Buffer.byteLength(JSON.stringify(experiment));
    if (bytes > maxBytes) throw experimentTooLarge(experiment.name, bytes, maxBytes);
    return { ...this.idKey(experiment.experimentId), experiment };
  }

  private nameRow(row: NameRow): Item {
    return { ...this.nameKey(row.name), ...row };
  }

  private idKey(experimentId: string): Key {
    return { pk: this.pk, sk: `EXPERIMENT#${experimentId.padStart(12, "0")}` };
  }

  /** Returns the key of a name. It contains a hash, because a name may be longer than a key. */
  private nameKey(name: string): Key {
    return { pk: this.pk, sk: `NAME#${sha256(name)}` };
  }
}
