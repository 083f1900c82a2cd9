import { html, type Markup } from "../../core/html/markup";
import { shortened } from "../../core/html/tables";
import { formatCount, formatDuration } from "../../core/quantities";
import type { RunDetails } from "../../core/runs/shapes";
import { workSince } from "../../core/runs/usage";

interface Bar {
  readonly name: string;
  readonly kind: "step" | "reused" | "attempt" | "failed";
  readonly from: number;
  readonly to: number;
  readonly says: string;
}

const line = 26;
const left = 190;
const right = 860;

/** Draws a training run's steps and attempts as bars over time. */
export function timeline({ steps, attempts, workers, run }: RunDetails, now: number): Markup | undefined {
  const open = run.status === "queued" || run.status === "running";
  const end = run.endedAt === undefined && open ? now : Date.parse(run.endedAt ?? run.updatedAt);
  const bars: readonly Bar[] = [
    ...steps.map(({ step, reusedFrom, startedAt, finishedAt }): Bar => {
      const [from, to] = [Date.parse(startedAt), Date.parse(finishedAt)];
      const says = reusedFrom === undefined ? formatDuration(to - from) : `reused from ${reusedFrom}`;
      return { name: step, kind: reusedFrom === undefined ? "step" : "reused", from, to, says };
    }),
    ...attempts.map((one): Bar => {
      const { attempt, evaluation, market, status, endedAt, reason } = one;
      const [from, to] = [Date.parse(workSince({ workers }, one)), endedAt === undefined ? end : Date.parse(endedAt)];
      const what = `${formatCount(one.workers, "worker")}, ${market}, ${formatDuration(to - from)}`;
      const why = status === "failed" ? `: ${shortened(reason ?? "failed", 60)}` : "";
      return {
        name: `attempt ${attempt}${evaluation === undefined ? "" : ", evaluation"}`,
        kind: status === "failed" ? "failed" : "attempt",
        from,
        to,
        says: what + why,
      };
    }),
  ]
    .filter(({ from, to }) => Number.isFinite(from) && Number.isFinite(to))
    .sort((a, b) => a.from - b.from)
    .slice(0, 40);
  if (bars.length === 0) return undefined;
  const first = Math.min(Date.parse(run.createdAt), ...bars.map(({ from }) => from));
  const last = Math.max(first + 1, ...bars.map(({ to }) => to));
  const at = (time: number): number => Math.round(left + ((time - first) / (last - first)) * (right - left));
  const height = bars.length * line + 6;
  return html`<section><h2>Timeline</h2><figure class="plot wide gantt"><svg viewBox="0 0 1200 ${height}" role="img" aria-label="steps and attempts over time">
<line class="grid" x1="${left}" x2="${left}" y1="0" y2="${height}"/>
${bars.map(
  ({ name, kind, from, to, says }, row) =>
    html`<text x="${left - 12}" y="${row * line + 18}" text-anchor="end">${name}</text><rect class="${kind}" x="${at(from)}" y="${row * line + 5}" width="${Math.max(3, at(to) - at(from))}" height="18" rx="4"/><text class="took" x="${Math.max(at(to), at(from) + 3) + 8}" y="${row * line + 18}">${says}</text>
`,
)}</svg></figure></section>`;
}
