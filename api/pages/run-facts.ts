import { link } from "../../core/html/layout";
import { html } from "../../core/html/markup";
import type { Pair } from "../../core/html/tables";
import type { RunRecord } from "../../core/tracking/shapes";

export function codePairs({ code }: RunRecord): readonly Pair[] {
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

export function environmentPairs({ environment, seed, artifactUri }: RunRecord): readonly Pair[] {
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
