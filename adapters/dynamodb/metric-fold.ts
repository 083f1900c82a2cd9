import { type FoldedGroup, type FoldSizes, foldSegment } from "../metric-log/fold";
import type { Segment } from "../metric-log/log-state";
import type { NumberedPoints } from "../metric-log/packed-points";
import { blockKey, directoryKey, type MetricRows, pkOf } from "./metric-rows";

/** The target number of rows per request when groups of a segment are written together. */
const rowsPerWrite = 24;

/**
 * Folds a segment: sorts its points by metric, some groups of metrics at a time. After a failure create a new one,
 * which writes the same rows again.
 */
export class SegmentFold {
  private readonly groups: Iterator<FoldedGroup>;
  private next: IteratorResult<FoldedGroup> | undefined;

  constructor(
    private readonly runId: string,
    private readonly rows: MetricRows,
    readonly segment: Segment,
    batches: readonly NumberedPoints[],
    sizes: FoldSizes,
  ) {
    this.groups = foldSegment(batches, sizes);
  }

  /**
   * Writes groups of the segment.
   * @returns whether all of the segment is written
   */
  async write(groups: number): Promise<boolean> {
    const pk = pkOf(this.runId);
    this.next ??= this.groups.next();
    let rows: Record<string, unknown>[] = [];
    for (let count = 0; count < groups && !this.next.done; count += 1) {
      const { group, blocks, directory } = this.next.value;
      this.next = this.groups.next();
      for (const [i, data] of blocks.entries()) rows.push({ pk, sk: blockKey(group, this.segment.number, i), data });
      rows.push({ pk, sk: directoryKey(group, this.segment.number), data: directory });
      if (rows.length < rowsPerWrite) continue;
      await this.rows.write(rows);
      rows = [];
    }
    await this.rows.write(rows);
    return this.next.done === true;
  }
}
