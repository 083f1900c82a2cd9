import { Marked } from "marked";
import { validationKind } from "../../core/datasets/contract/report";
import { contractTable } from "../../core/html/contract-html";
import type { Page } from "../../core/html/document";
import { link, pageOf } from "../../core/html/layout";
import { escapeHtml, html, Markup } from "../../core/html/markup";
import { type Pair, pairs, shortened } from "../../core/html/tables";
import { formatCount, formatDuration, timeText } from "../../core/quantities";
import { displayedStatus, outcomeText, workMs } from "../../core/runs/run";
import type { RunDetails, RunOutcome } from "../../core/runs/shapes";
import { findOutput } from "../../core/runs/step";
import { workSince } from "../../core/runs/usage";
import type { RunRecord } from "../../core/tracking/shapes";
import { curveSections } from "./curve-families";
import { evaluationSection } from "./evaluation-section";
import type { Links } from "./links";
import type { RunPage } from "./run-page";
import { attemptTable, childTable, datasetTable, fileTable, lineageStrip, metricTable, tiles } from "./run-sections";

function codePairs({ code }: RunRecord): readonly Pair[] {
  const { repository, branch, commit, dirty, diffSha256, moduleSha256, entryPoint } = code;
  return [
    ["repository", repository === undefined ? undefined : link(webAddress(repository), repository)],
    ["branch", branch],
    [
      "commit",
      commit === undefined
        ? undefined
        : html`<code class="whole">${commit}</code>${dirty ? html` <span class="badge dirty">uncommitted changes</span>` : undefined}`,
    ],
    ["entry point", entryPoint],
    ["module SHA-256", digestText(moduleSha256)],
    ["patch SHA-256", digestText(diffSha256)],
  ];
}

function environmentPairs({ environment, seed, artifactUri }: RunRecord): readonly Pair[] {
  const { lockfileSha256, image, imageDigest, hardware, numerics } = environment;
  const listed = (texts: readonly (string | undefined)[] = []): string | undefined =>
    texts.filter(Boolean).join(", ") || undefined;
  return [
    ["seed", seed === undefined ? undefined : String(seed)],
    ["instance types", hardware && listed(hardware.instanceTypes)],
    ["CPU", hardware?.cpu ?? numerics?.cpu.model],
    ["GPU", hardware?.gpu ?? numerics?.gpu?.model],
    ["backend", numerics && `${numerics.backend} on ${numerics.device}`],
    ["threads", numerics && `intra-op ${numerics.threads.intraOp}, inter-op ${numerics.threads.interOp}`],
    [
      "libraries",
      numerics && listed(Object.entries(numerics.libraries).map(([name, version]) => `${name} ${version}`)),
    ],
    ["flags", numerics && listed(Object.entries(numerics.switches).map(([name, value]) => `${name} ${value}`))],
    ["Node", numerics && `${numerics.node}, ${numerics.platform} ${numerics.arch}`],
    ["image", image],
    ["image digest", imageDigest],
    ["lockfile SHA-256", digestText(lockfileSha256)],
    ["artifact URI", artifactUri],
  ];
}

function digestText(sha256: string | undefined) {
  return sha256 === undefined ? undefined : html`<code class="whole">${sha256}</code>`;
}

/** Returns a URL for a link. Only web URLs are permitted, because clients set the value. */
function webAddress(repository: string): string | undefined {
  return /^https?:\/\/[\w.-]+(?::\d+)?\/[^\s"'<>]*$/.test(repository) ? repository : undefined;
}

const maxLines = 1_200;
/** Maximum length of a line; a minified file has lines that nobody reads. */
const maxLine = 400;

export function diffHtml(patch: string, cut: boolean): Markup {
  const lines = patch.split("\n");
  const shown = lines.slice(0, maxLines);
  const more = cut || lines.length > shown.length;
  return html`<div class="scroll tall"><pre class="diff">${shown.map(
    (line) => html`<span class="${kindOf(line)}">${shortLine(line)}</span>`,
  )}</pre></div>${more ? html`<p class="faint">Patch truncated.</p>` : undefined}`;
}

function kindOf(line: string): string {
  if (line.startsWith("diff ") || line.startsWith("+++ ") || line.startsWith("--- ")) return "file";
  if (line.startsWith("@@")) return "hunk";
  return line.startsWith("+") ? "add" : line.startsWith("-") ? "del" : "same";
}

function shortLine(line: string): string {
  if (line === "") return " ";
  return line.length <= maxLine ? line : `${line.slice(0, maxLine)}… (${line.length} characters)`;
}

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

function timeline({ steps, attempts, workers, run }: RunDetails, now: number): Markup | undefined {
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

/** Maximum length of notes on the page; the record has all of them. */
const maxCharacters = 20_000;

/** Renders Markdown without HTML, images, and links other than web links; these are shown as text. */
const markdown = new Marked({
  async: false,
  renderer: {
    html: ({ text }) => escapeHtml(text),
    image: ({ raw }) => escapeHtml(raw),
    code: ({ text }) => `<pre><code>${escapeHtml(text)}</code></pre>\n`,
    // The page has its own first and second level.
    heading({ tokens }) {
      return `<h3>${this.parser.parseInline(tokens)}</h3>\n`;
    },
    link({ href, raw, tokens }) {
      if (!/^https?:\/\//i.test(href)) return escapeHtml(raw);
      return `<a href="${escapeHtml(href)}" rel="noopener noreferrer">${this.parser.parseInline(tokens)}</a>`;
    },
  },
});

export function notesHtml(notes: string): Markup {
  const cut = notes.length - maxCharacters;
  const more = cut > 0 ? html`<p class="faint">… ${cut} more characters</p>` : undefined;
  return html`<div class="notes">${rendered(notes.slice(0, maxCharacters))}${more}</div>`;
}

/** Shows notes that nest deeper than the parser can follow as plain text. */
function rendered(notes: string): Markup {
  try {
    return new Markup((markdown.parse(notes) as string).trimEnd());
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return html`<pre>${notes}</pre>`;
  }
}

const refreshSeconds = 30;
/** Time without a new point or change after which an open run counts as abandoned. */
const silentMs = 15 * 60_000;

export function runHtml(page: RunPage, links: Links, now: number): Page {
  const { record, experiment, details, curves, diff } = page;
  const params = Object.entries(record.params).sort(([a], [b]) => (a < b ? -1 : 1));
  const isOpen = record.status === "running" || record.status === "queued";
  // A client that died leaves its run open permanently. A run without a recent sign of life is not refreshed.
  const isLive = isOpen && now - lastSign(page) < silentMs;
  const body = html`${header(page, links, now)}
${banners(page, links)}
${contractSection(page)}
${tiles(page)}
${lineageStrip(page, links)}
${evaluationSection(page.evaluation)}
${curveSections(curves, record.reusedFrom)}
${details && timeline(details, now)}
${record.notes === "" ? undefined : html`<section><h2>Notes</h2>${notesHtml(record.notes)}</section>`}
<div class="two">${metricTable(page)}
${pairs("Params", params)}</div>
${childTable(page, links)}
<div class="two">${pairs("Code", codePairs(record))}
${pairs("Environment", environmentPairs(record))}</div>
${diff && html`<section><h2>Uncommitted changes</h2>${diffHtml(diff.text, diff.cut)}</section>`}
${datasetTable(record)}
${attemptTable(page)}
${fileTable(page, links)}`;
  return pageOf({
    title: `${shortened(record.name, 100)} – run of ${shortened(experiment?.name ?? record.experimentId, 100)}`,
    crumbs: [
      link(links.experiments(), "Experiments"),
      link(links.experiment(record.experimentId), shortened(experiment?.name ?? record.experimentId, 100)),
    ],
    body,
    at: new Date(now).toISOString(),
    ...(isLive ? { refreshSeconds } : {}),
  });
}

/** Returns the time of the last change or point of a run, in milliseconds since the epoch. */
function lastSign({ record, metrics, details }: RunPage): number {
  const updated = details === undefined ? Number.NaN : Date.parse(details.run.updatedAt);
  return [record.startedAt, updated, ...metrics.map(({ lastTime }) => lastTime)]
    .filter(Number.isFinite)
    .reduce((a, b) => Math.max(a, b));
}

function header({ record, details, childCount, children }: RunPage, links: Links, now: number): Markup {
  const { runId, name, status, source, createdBy, startedAt, endedAt, tags, parentRunId, lifecycle } = record;
  const isOpen = status === "running" || status === "queued";
  const took = formatDuration(workMs(record, now));
  const comparisons = [
    ...(parentRunId === undefined
      ? []
      : [link(links.compare([parentRunId, runId], parentRunId), "compare with parent")]),
    ...(children.length < 2
      ? []
      : [
          link(
            links.compare(children.map((child) => child.record.runId)),
            childCount > children.length ? `compare ${children.length} children` : "compare children",
          ),
        ]),
  ];
  return html`<div class="head"><h1>${shortened(name === "" ? runId : name, 250)}</h1><span class="badge ${status}">${displayedStatus(record)}</span>${lifecycle === "deleted" ? html`<span class="badge deleted">deleted</span>` : undefined}<span class="badge">${source === "training" ? "training run" : "logged run"}</span>${record.reusedFrom === undefined ? undefined : html`<span class="badge">reused from ${link(links.run(record.reusedFrom), record.reusedFrom)}</span>`}</div>
<p class="facts">${name === runId || name === "" ? undefined : html`<span><code class="whole">${runId}</code></span>`}<span>by <b>${shortened(createdBy, 250)}</b></span><span>started <b>${timeText(startedAt)}</b> UTC</span><span>${endedAt !== undefined ? html`duration <b>${took}</b>` : isOpen ? html`elapsed <b>${took}</b>` : undefined}</span>${details?.run.phase && isOpen ? html`<span>phase <b>${details.run.phase}</b></span>` : undefined}${comparisons.map((one) => html`<span>${one}</span>`)}</p>
${tagChips(tags)}`;
}

/** Renders tags that people set. Other parts of the page show the clients' own tags. */
function tagChips(tags: Readonly<Record<string, string>>): Markup | undefined {
  const shown = Object.entries(tags)
    .filter(([key]) => !key.startsWith("mlflow."))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  if (shown.length === 0) return undefined;
  const chips = shown
    .slice(0, 60)
    .map(([key, value]) => html`<span class="chip"><b>${shortened(key, 100)}</b> ${shortened(value, 200)}</span>`);
  const more = shown.length > 60 ? html`<span class="faint">and ${shown.length - 60} more</span>` : undefined;
  return html`<div class="chips">${chips}${more}</div>`;
}

function banners({ record, details, next, versions }: RunPage, links: Links): readonly (Markup | undefined)[] {
  const { failure, outcome, cause } = details?.run ?? {};
  const canRegister = outcome?.decision === "not-registered" && versions.length === 0;
  return [
    record.deletedAt === undefined
      ? undefined
      : html`<p class="banner warn">Deleted ${record.deletedAt}. Restore it with <code>ringmaster runs undelete ${record.runId}</code>.</p>`,
    record.unreadable === undefined
      ? undefined
      : html`<p class="banner bad">A part of this run cannot be read: ${shortened(record.unreadable, 2_000)}. Delete it: <code>ringmaster runs delete ${record.runId}</code></p>`,
    ...(details?.warnings ?? []).map(
      ({ code, message }) => html`<p class="banner warn" data-code="${code}">Warning: ${shortened(message, 2_000)}</p>`,
    ),
    failure &&
      html`<div class="banner bad"><strong>${failure.code}</strong>${failure.phase === undefined ? undefined : ` in ${failure.phase}`}<pre>${shortened(failure.message, 4_000)}</pre></div>`,
    outcome &&
      html`<p class="banner ${isGood(outcome) ? "good" : "warn"}">${shortened(outcomeText(outcome), 2_000)}${
        canRegister ? html`. Register it: <code>ringmaster models register ${record.runId} --as NAME</code>` : undefined
      }</p>${canRegister ? registerForm(links.register(record.runId)) : undefined}`,
    ...next.map(
      ({ version, steps }) =>
        html`<div class="banner warn"><strong>${version.model} version ${version.version}</strong>: next:${steps.map(
          ({ what, command }) =>
            html`<p>${shortened(what, 2_000)}${command === undefined ? undefined : html`: <code>${command}</code>`}</p>`,
        )}</div>`,
    ),
    cause && html`<p class="banner">Started by trigger <b>${cause.trigger}</b>: ${cause.id}</p>`,
  ];
}

function contractSection({ details }: RunPage): Markup | undefined {
  const output = details && findOutput(details, validationKind);
  const { contract, rowCount } = output ?? {};
  if (!contract || contract.violations.length === 0) return undefined;
  return contractTable(
    `Data contract, revision ${contract.revision}: ${contract.status}`,
    contract.violations,
    rowCount,
  );
}

function registerForm(action: string | undefined): Markup | undefined {
  if (action === undefined) return undefined;
  return html`<form class="filter" method="get" action="${action}"><input type="text" name="as" required maxlength="250" spellcheck="false" aria-label="name of the model" placeholder="name of the model"><button>Register…</button></form>`;
}

function isGood(outcome: RunOutcome): boolean {
  return outcome.decision === "promoted" || (outcome.decision === "not-registered" && outcome.passed);
}
