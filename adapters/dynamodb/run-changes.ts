import type { Clock } from "../../core/ports";
import { changesKeptMs, clockSkewMs, type RunChanges } from "../../core/tracking/run-records";
import type { RunIdentity } from "../../core/tracking/shapes";
import { catalog } from "../../platform/permissions/grants";
import { catalogPort, ex, type Key, type Table } from "./table";

/**
 * The maximum delay of a mark after the begin of its second. Readers look back only for a limited time and may miss a
 * later mark, which is therefore written again. This is half of the time that readers look back. The other half is for
 * clock differences.
 */
const latestMs = clockSkewMs / 2;

/** The maximum number of cached marks of one second, more than a process writes in a second. */
const maxCached = 50_000;

export interface AllRunChanges {
  mark(run: RunIdentity): Promise<void>;
  /** Returns the mark of this second, for a transaction that also makes the change. */
  row(run: RunIdentity): Key;
  /** Notes that a transaction has written the second's mark. Wait for it before the change is acknowledged. */
  wrote(run: RunIdentity, row: Key): Promise<void>;
  of(team: string): RunChanges;
}

/** See docs/access-patterns.md, "Records of runs". Use one per process, because it caches the marks. */
export function createRunChanges(table: Table, clock: Clock): AllRunChanges {
  const partition = (team: string, experimentId: string): string => `TEAM#${team}#CHANGES#${experimentId}`;
  const secondKey = (second: number): string => String(Math.max(0, second)).padStart(10, "0");
  /** The marks of `rememberedSecond`, including marks that are being written, which callers wait for. */
  const marked = new Map<string, Promise<unknown>>();
  let rememberedSecond = -1;

  const secondNow = (): number => Math.floor(clock.now() / 1000);
  const rowAt = ({ team, experimentId, runId }: RunIdentity, second: number) => ({
    pk: partition(team, experimentId),
    sk: `${secondKey(second)}#${runId}`,
    expiresAt: second + changesKeptMs / 1000,
  });

  const isLate = (second: number): boolean => clock.now() - second * 1000 > latestMs;

  function rememberFrom(second: number): void {
    if (second === rememberedSecond && marked.size < maxCached) return;
    marked.clear();
    rememberedSecond = second;
  }

  async function mark(run: RunIdentity): Promise<void> {
    const { runId } = run;
    const second = secondNow();
    rememberFrom(second);
    let writing = marked.get(runId);
    if (!writing) {
      writing = table.put(rowAt(run, second));
      marked.set(runId, writing);
      // A failed mark is removed, so that the next call writes it again.
      writing.catch(() => marked.get(runId) === writing && marked.delete(runId));
    }
    await writing;
    if (isLate(second)) await mark(run);
  }

  return {
    mark,
    row: (run) => rowAt(run, secondNow()),
    async wrote(run, { sk }) {
      const second = secondNow();
      if (isLate(Number.parseInt(sk, 10))) return mark(run);
      if (!sk.startsWith(secondKey(second))) return;
      rememberFrom(second);
      marked.set(run.runId, Promise.resolve());
    },
    of: (team) => ({
      mark,
      async since(experimentId, since) {
        const from = secondKey(Math.floor(since / 1000));
        const marks = ex`pk = ${partition(team, experimentId)} AND sk >= ${from}`;
        const rows = await table.all(marks, { select: ex`sk` });
        return [...new Set(rows.map(({ sk }) => (sk as string).slice(secondKey(0).length + 1)))];
      },
    }),
  };
}

export const runChanges = catalogPort(createRunChanges, { read: [catalog("Query")], mark: [catalog("PutItem")] });
