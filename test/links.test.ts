import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { entryPoints, root } from "../scripts/build";

/** Returns the text without fenced blocks, whose lines are neither headings nor links. */
const withoutFences = (text: string): string => text.replace(/^(```|~~~)[\s\S]*?^\1/gm, "");

/** Returns the anchor that GitHub gives a heading: lower case, hyphens for spaces, no punctuation. */
function anchorOf(heading: string): string {
  const text = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
  return text.replace(/[^\p{L}\p{N}\s_-]/gu, "").replace(/\s/g, "-");
}

/** Returns the anchors of a page; the second heading of a name has `-1` appended, the third `-2`. */
function anchorsOf(text: string): ReadonlySet<string> {
  const counts = new Map<string, number>();
  const headings = [...withoutFences(text).matchAll(/^#{1,6} +(.+?) *$/gm)];
  return new Set(
    headings.map(([, heading]) => {
      const anchor = anchorOf(heading!);
      const earlier = counts.get(anchor) ?? 0;
      counts.set(anchor, earlier + 1);
      return earlier === 0 ? anchor : `${anchor}-${earlier}`;
    }),
  );
}

/** Returns what is wrong with a link, `undefined` for a good one and for an address outside the repository. */
function problemOf(page: string, link: string): string | undefined {
  if (/^[a-z]+:/i.test(link)) return undefined;
  const [file = "", anchor] = link.split("#");
  const target = file === "" ? page : path.join(path.dirname(page), file);
  if (!existsSync(path.join(root, target))) return `${link}: no file ${target}`;
  if (anchor === undefined || !target.endsWith(".md")) return undefined;
  const known = anchorsOf(readFileSync(path.join(root, target), "utf8"));
  return known.has(anchor) ? undefined : `${link}: no heading #${anchor} in ${target}`;
}

const list = (...patterns: readonly string[]): readonly string[] =>
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", ...patterns], {
    cwd: root,
    encoding: "utf8",
  })
    .split("\n")
    .filter((file) => file !== "" && existsSync(path.join(root, file)));

describe("references inside the repository", () => {
  it.each(list("*.md"))("the links of %s lead to a file and a heading", (page) => {
    const text = withoutFences(readFileSync(path.join(root, page), "utf8")).replace(/`[^`\n]*`/g, "");
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!);
    expect(links.flatMap((link) => problemOf(page, link) ?? [])).toEqual([]);
  });

  it("finds a missing file and a missing heading", () => {
    expect(problemOf("README.md", "docs/none.md")).toBe("docs/none.md: no file docs/none.md");
    expect(problemOf("README.md", "docs/jobs.md#none")).toBe("docs/jobs.md#none: no heading #none in docs/jobs.md");
    expect(problemOf("docs/jobs.md", "jobs.md#exit-codes")).toBeUndefined();
  });

  it("decisions that the code names have a page in docs/adr", () => {
    const files = list("*.ts", "*.js", "*.md", "*.yaml");
    const named = files.flatMap((file) => [
      ...readFileSync(path.join(root, file), "utf8").matchAll(/docs\/adr\/(\d{3}[a-z0-9-]*\.md)/g),
    ]);
    expect(named.length).toBeGreaterThan(10);
    const missing = named.filter(([, page]) => !existsSync(path.join(root, "docs/adr", page!)));
    expect(missing.map(([name]) => name)).toEqual([]);
  });

  it("every entry point of the build is a source file", () => {
    const missing = Object.values(entryPoints()).filter((file) => !existsSync(path.join(root, file)));
    expect(missing).toEqual([]);
  });
});
