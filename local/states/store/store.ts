import type { EmittedEvent, EventSink } from "../../service";
import { JsonDatabase, type JsonWrite } from "../../storage/json-database";
import { entryWrite, Outbox } from "../../storage/outbox";
import type { LogRecord } from "./log-record";
import type { ExecutionSummary, MachineRecord } from "./records";

/*
 * The keys. Their parts are separated by `/`, which no name may contain.
 *   m/machine                     state machine
 *   x/machine/execution           summary of an execution
 *   s/machine/start time/execution   executions by start time
 *   l/machine/execution/seq       log
 *   r/machine/execution           running execution
 *   o/number                      status event that may be undelivered
 * A batch that has resolved survives `kill -9` and a power loss; one that has not is there whole, or not at all.
 */

type Stored = MachineRecord | ExecutionSummary | LogRecord | EmittedEvent | "";
type Write = JsonWrite<Stored>;

const digits = (value: number, width: number): string => String(value).padStart(width, "0");
const execution = ({ machine, name }: Pick<ExecutionSummary, "machine" | "name">): string => `${machine}/${name}`;
const startKey = (summary: ExecutionSummary): string =>
  `s/${summary.machine}/${digits(summary.startedAt, 15)}/${summary.name}`;
const under = (prefix: string) => ({ gte: prefix, lt: `${prefix}\uffff` });

export class Store {
  readonly outbox: Outbox;

  private constructor(
    private readonly db: JsonDatabase,
    sink: EventSink | undefined,
  ) {
    this.outbox = new Outbox(db, sink, "o/");
  }

  static async open(directory: string, sink?: EventSink): Promise<Store> {
    const db = new JsonDatabase({ directory, store: "states" });
    await db.open();
    const store = new Store(db, sink);
    await store.outbox.load();
    return store;
  }

  close(): Promise<void> {
    this.outbox.close();
    return this.db.close();
  }

  machine = (name: string): Promise<MachineRecord | undefined> => this.get<MachineRecord>(`m/${name}`);
  putMachine = (machine: MachineRecord): Promise<void> => this.db.put(`m/${machine.name}`, machine);

  async machines(after: string | undefined, limit: number): Promise<readonly MachineRecord[]> {
    const range = after === undefined ? under("m/") : { ...under("m/"), gt: `m/${after}`, gte: undefined };
    const records: MachineRecord[] = [];
    for await (const [, value] of this.db.iterator({ ...clean(range), limit })) records.push(value as MachineRecord);
    return records;
  }

  execution = (id: Pick<ExecutionSummary, "machine" | "name">): Promise<ExecutionSummary | undefined> =>
    this.get<ExecutionSummary>(`x/${execution(id)}`);

  async *executions(
    machine: string,
    before?: string,
  ): AsyncGenerator<{ readonly cursor: string; readonly summary: ExecutionSummary }> {
    const prefix = `s/${machine}/`;
    const range = { ...under(prefix), ...(before !== undefined && { lt: `${prefix}${before}` }), reverse: true };
    for await (const [key] of this.db.iterator(range)) {
      const cursor = key.slice(prefix.length);
      const summary = await this.execution({ machine, name: cursor.slice(cursor.indexOf("/") + 1) });
      if (summary) yield { cursor, summary };
    }
  }

  async running(): Promise<readonly ExecutionSummary[]> {
    const keys = await this.db.keys(under("r/"));
    const summaries = keys.map((key) => this.db.get(`x/${key.slice(2)}`) as ExecutionSummary | undefined);
    return summaries.filter((summary) => summary !== undefined);
  }

  async *log(
    id: Pick<ExecutionSummary, "machine" | "name">,
    options: { readonly after?: number; readonly before?: number; readonly reverse?: boolean } = {},
  ): AsyncGenerator<LogRecord> {
    const prefix = `l/${execution(id)}/`;
    const { after = 0, before = 99_999_999, reverse = false } = options;
    const range = { gt: prefix + digits(after, 8), lt: prefix + digits(before, 8), reverse };
    for await (const [, value] of this.db.iterator(range)) yield value as LogRecord;
  }

  begin(summary: ExecutionSummary, log: readonly LogRecord[], event: EmittedEvent): Promise<void> {
    return this.announce(event, [
      { type: "put", key: `x/${execution(summary)}`, value: summary },
      { type: "put", key: startKey(summary), value: "" },
      { type: "put", key: `r/${execution(summary)}`, value: "" },
      ...entries(summary, log),
    ]);
  }

  append = (id: ExecutionSummary, log: readonly LogRecord[]): Promise<void> => this.write(entries(id, log));

  end(summary: ExecutionSummary, log: readonly LogRecord[], event: EmittedEvent): Promise<void> {
    return this.announce(event, [
      ...entries(summary, log),
      { type: "put", key: `x/${execution(summary)}`, value: summary },
      { type: "del", key: `r/${execution(summary)}` },
    ]);
  }

  private async announce(event: EmittedEvent, writes: readonly Write[]): Promise<void> {
    const entry = this.outbox.entry(event);
    await this.write([...writes, entryWrite(entry)]);
    void this.outbox.send([entry]);
  }

  private async get<T extends Stored>(key: string): Promise<T | undefined> {
    await this.db.readable();
    return this.db.get(key) as T | undefined;
  }
  private write = (writes: readonly Write[]): Promise<void> => this.db.batch([...writes]);
}

const entries = (id: Pick<ExecutionSummary, "machine" | "name">, log: readonly LogRecord[]): readonly Write[] =>
  log.map((value) => ({ type: "put", key: `l/${execution(id)}/${digits(value.seq, 8)}`, value }));

function clean<T extends object>(range: T): T {
  return Object.fromEntries(Object.entries(range).filter(([, value]) => value !== undefined)) as T;
}
