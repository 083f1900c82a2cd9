import type { Curve } from "../../../api/compare/comparison";
import { familiesOf } from "../../../api/pages/curve-families";
import { relativeLinks } from "../../../api/pages/links";
import { diffHtml, notesHtml } from "../../../api/pages/run-html";
import { shortened } from "../../../core/html/tables";

describe("notes", () => {
  it.each([
    ["# A\n\nb **c** *d* `e`", "<h3>A</h3>\n<p>b <strong>c</strong> <em>d</em> <code>e</code></p>"],
    ["- a\n- b\n\n1. c", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n<ol>\n<li>c</li>\n</ol>"],
    ["a\nb\n- c", "<p>a\nb</p>\n<ul>\n<li>c</li>\n</ul>"],
    ["```\n<b>\n```\nx", "<pre><code>&lt;b&gt;</code></pre>\n<p>x</p>"],
    ["```\nnever closed", "<pre><code>never closed</code></pre>"],
    [
      "[a](https://b.example/c?d=1&e)",
      '<p><a href="https://b.example/c?d=1&amp;e" rel="noopener noreferrer">a</a></p>',
    ],
    ["[a](javascript:alert(1))", "<p>[a](javascript:alert(1))</p>"],
    ["[a](//b.example)", "<p>[a](//b.example)</p>"],
    ["<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)&gt;"],
    ["**<i>**", "<p><strong>&lt;i&gt;</strong></p>"],
    ["#\n\n```", "<h3></h3>\n<pre><code></code></pre>"],
    ["<javascript:alert(1)>", "<p>&lt;javascript:alert(1)&gt;</p>"],
    ["[a](data:text/html,x)", "<p>[a](data:text/html,x)</p>"],
    ["[a][r]\n\n[r]: JaVaScript:alert(1)", "<p>[a][r]</p>"],
    ["[a](&#106;avascript:alert(1))", "<p>[a](&amp;#106;avascript:alert(1))</p>"],
    ["![a](https://b.example)", "<p>![a](https://b.example)</p>"],
    [
      '[a](https://b.example"onclick=1 "c\\" onmouseover=2")',
      '<p><a href="https://b.example&quot;onclick=1" rel="noopener noreferrer">a</a></p>',
    ],
    ["[<img src=x>](https://a)", '<p><a href="https://a" rel="noopener noreferrer">&lt;img src=x&gt;</a></p>'],
    ['```x" onclick=1\na\n```', "<pre><code>a</code></pre>"],
    ["<div>\n<script>a</script>", "&lt;div&gt;\n&lt;script&gt;a&lt;/script&gt;"],
    ["> a <b onclick=x>", "<blockquote>\n<p>a &lt;b onclick=x&gt;</p>\n</blockquote>"],
    [
      "|a|\n|-|\n|<i>|",
      "<table>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n<tbody><tr>\n<td>&lt;i&gt;</td>\n</tr>\n</tbody></table>",
    ],
    ["<!-- a --><?b ?>", "&lt;!-- a --&gt;&lt;?b ?&gt;"],
  ])("%j are %s", (notes, markup) => {
    expect(notesHtml(notes).text).toBe(`<div class="notes">${markup}</div>`);
  });

  it("that nest too deep are shown as plain text", () => {
    expect(notesHtml("> ".repeat(10_000)).text).toMatch(/^<div class="notes"><pre>(?:&gt; )+<\/pre><\/div>$/);
  });

  it("are cut where they are long, and say so", () => {
    const { text } = notesHtml("a".repeat(20_007));
    expect(text).toContain("… 7 more characters");
    expect(text.length).toBeLessThan(20_200);
  });
});

describe("a patch", () => {
  it("is described by its lines", () => {
    const { text } = diffHtml("diff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-<x>\n+y\n z\n", false);
    const kinds = [...text.matchAll(/<span class="(\w+)">([^<]*)/g)].map(([, kind, line]) => [kind, line]);
    expect(kinds).toEqual([
      ["file", "diff --git a/b b/b"],
      ["file", "--- a/b"],
      ["file", "+++ b/b"],
      ["hunk", "@@ -1 +1 @@"],
      ["del", "-&lt;x&gt;"],
      ["add", "+y"],
      ["same", " z"],
      ["same", " "],
    ]);
    expect(text).not.toContain("truncated");
  });

  it("of thousands of lines, or of one line of a megabyte, is cut", () => {
    expect(diffHtml("+a\n".repeat(5_000), false).text).toContain("Patch truncated");
    const long = diffHtml(`+${"x".repeat(1_000_000)}`, false).text;
    expect(long).toContain("(1000001 characters)");
    expect(long.length).toBeLessThan(1_000);
  });
});

describe("curves", () => {
  const curve = (metric: string): Curve => ({ metric, axis: "step", series: [] });

  it("of one thing are lines of one plot", () => {
    const losses = ["train/loss", "validation/loss", "val_loss"];
    const names = ["epoch", ...losses, "val_acc", "system/worker-0/cpu", "system/worker-1/cpu"];
    const families = familiesOf(names.map(curve)).map(({ title, lines }) => [title, lines.map(({ name }) => name)]);
    expect(families).toEqual([
      ["loss", ["train", "validation"]],
      // Another of the same data.
      ["val_loss", ["validation"]],
      ["val_acc", ["validation"]],
      ["epoch", ["other"]],
      ["cpu", ["worker-0", "worker-1"]],
    ]);
  });
});

describe("a link", () => {
  const links = relativeLinks("../");

  it.each([
    [links.run("a/b?c#d"), "../runs/a%2Fb%3Fc%23d"],
    [links.experiment("3", { filter: "a & b", orderBy: "", pageToken: undefined }), "../experiments/3?filter=a+%26+b"],
    [links.artifact("r", "a b/ö.png"), "../runs/r/artifact?path=a+b%2F%C3%B6.png"],
    [links.compare(["a,b", 'c"d'], "a,b"), "../compare?runs=%5B%22a%2Cb%22%2C%22c%5C%22d%22%5D&baseline=a%2Cb"],
    // No browser or gateway would take it.
    [links.compare(Array.from({ length: 50 }, () => "x".repeat(255))), undefined],
  ])("is %s", (href, expected) => {
    expect(href).toBe(expected);
  });
});

it("a long value is cut, and its length is given", () => {
  expect(shortened("abc", 2)).toBe("ab… (3 characters)");
});
