import { createHash } from "node:crypto";
import { runInNewContext } from "node:vm";
import { startHtml, startScript } from "../../../api/pages/start-html";

/** Returns the target of the page `https://api.example/live/` with that text after the `#`. */
function leadsTo(hash: string): string | undefined {
  let to: string | undefined;
  const location = { hash, replace: (next: string) => (to = new URL(next, "https://api.example/live/").href) };
  runInNewContext(startScript, { location, addEventListener: () => undefined, decodeURIComponent, encodeURIComponent });
  return to;
}

const pages = "https://api.example/live/api/v1/pages/";

describe("the page at /", () => {
  it.each([
    ["#/experiments/3/runs/0a1b2c", "runs/0a1b2c"],
    ["#/experiments/3/runs/0a1b2c/model-metrics?x=1", "runs/0a1b2c"],
    ["#/experiments/3/runs/a%20b%2Fc", "runs/a%20b%2Fc"],
    ["#/experiments/3", "experiments/3"],
    ["#/experiments/3?searchFilter=", "experiments/3"],
    ["#/experiments/3/models/m-1", "experiments/3"],
    ["", "experiments"],
    ["#/", "experiments"],
    ["#/experiments", "experiments"],
  ])("leads from %s to %s", (hash, page) => {
    expect(leadsTo(hash)).toBe(pages + page);
  });

  it.each([
    "#/models/digits/versions/1",
    "#//evil.example/experiments/1",
    "#https://evil.example",
    "#/experiments/x/runs/1",
    "#/experiments/1/runs/..",
    "#/experiments/1/runs/%2e%2E",
    "#/experiments/1/runs/%zz",
    "#javascript:alert(1)",
  ])("stays where it is with %s, or goes no further than to the experiment", (hash) => {
    expect([undefined, `${pages}experiments/1`]).toContain(leadsTo(hash));
  });

  it.each([
    ...["//evil.example", "https:%2F%2Fevil.example", "%2F%2Fevil.example", "\\\\evil.example", "javascript:alert(1)"],
  ])("takes %s for the name of a run, and for nothing else", (name) => {
    expect(leadsTo(`#/experiments/1/runs/${name}`) ?? pages).toMatch(new RegExp(`^${pages}`));
  });

  it("allows its own script and style, and nothing else", () => {
    const { html, contentSecurityPolicy } = startHtml();
    expect(contentSecurityPolicy).toContain("default-src 'none'");
    expect(contentSecurityPolicy).not.toContain("unsafe");
    for (const element of ["style", "script"]) {
      const content = new RegExp(`<${element}>([\\s\\S]*?)</${element}>`).exec(html)![1]!;
      const digest = createHash("sha256").update(content).digest("base64");
      expect(contentSecurityPolicy).toContain(`${element}-src 'sha256-${digest}'`);
    }
  });
});
