import type { MetricSummary } from "../../../../core/tracking/metric-store";
import type { SearchSources } from "../../../../core/tracking/search/run-search";
import type { Experiment, RunRecord } from "../../../../core/tracking/shapes";

/** A team's runs behind the ports that a search reads, with only the guarantees of the real ones: a delayed list, marks by second. */
export class MemoryRuns implements SearchSources {
  private readonly kept = new Map<string, RunRecord>();
  private readonly listed = new Map<string, RunRecord>();
  private readonly summaries = new Map<string, readonly MetricSummary[]>();
  private readonly marks: { readonly experimentId: string; readonly second: number; readonly runId: string }[] = [];
  readonly requested: string[] = [];
  /** Waited for between what a read finds and its answer. */
  pause: () => Promise<void> = () => Promise.resolve();
  private time = 1_000_000_000;
  readonly clock = { now: () => this.time };

  constructor(private readonly experimentIds: readonly string[] = ["1", "2"]) {}

  wait(milliseconds: number): void {
    this.time += milliseconds;
  }

  /** As a writer whose clock is `skew` ahead stores a change and marks it. */
  put(record: RunRecord, summaries?: readonly MetricSummary[], skew = 0): void {
    this.kept.set(record.runId, record);
    if (summaries) this.summaries.set(record.runId, summaries);
    const { experimentId, runId } = record;
    this.marks.push({ experimentId, runId, second: Math.floor((this.time + skew) / 1_000) });
  }

  settle(): void {
    this.listed.clear();
    for (const [runId, record] of this.kept) this.listed.set(runId, record);
  }

  forget(runId: string): void {
    const record = this.kept.get(runId)!;
    this.kept.delete(runId);
    const second = Math.floor(this.time / 1_000);
    this.marks.push({ experimentId: record.experimentId, runId, second });
  }

  readonly records = {
    findMany: async (runIds: readonly string[]) => {
      this.requested.push(`findMany ${runIds.length}`);
      const found = runIds.flatMap((runId) => this.kept.get(runId) ?? []);
      await this.pause();
      return found;
    },
    list: (experimentId: string) => this.pages(experimentId),
  };

  private async *pages(experimentId: string): AsyncGenerator<readonly RunRecord[]> {
    this.requested.push(`list ${experimentId}`);
    const all = [...this.listed.values()].filter((record) => record.experimentId === experimentId);
    for (let at = 0; at < all.length; at += 250) {
      await this.pause();
      yield all.slice(at, at + 250);
    }
  }

  readonly changes = {
    since: async (experimentId: string, since: number) => {
      this.requested.push(`since ${experimentId}`);
      const from = Math.floor(since / 1_000);
      const found = this.marks.filter((mark) => mark.experimentId === experimentId && mark.second >= from);
      await this.pause();
      return [...new Set(found.map(({ runId }) => runId))];
    },
  };

  readonly metrics = {
    summariesOf: async (runIds: readonly string[]) => {
      if (runIds.length > 100) throw new Error("more runs at once than a batch has keys");
      const found = runIds.flatMap((runId) => {
        const summaries = this.summaries.get(runId);
        return summaries ? [[runId, summaries] as const] : [];
      });
      await this.pause();
      return new Map(found);
    },
  };

  readonly experiments = {
    list: async (): Promise<readonly Experiment[]> =>
      this.experimentIds.map((experimentId) => ({
        experimentId,
        name: `experiment ${experimentId}`,
        team: "default",
        lifecycle: "active",
        tags: {},
        artifactLocation: "",
        createdBy: "ada",
        createdAt: "",
        updatedAt: "",
        revision: 1,
      })),
  };

  all(): readonly { readonly record: RunRecord; readonly metrics: readonly MetricSummary[] }[] {
    return [...this.kept.values()].map((record) => ({ record, metrics: this.summaries.get(record.runId) ?? [] }));
  }
}
