import { needsOf } from "./needs";
import { Reach } from "./reach";
import { Sources } from "./sources";

/**
 * The program `main.js <root> <file>…`. It prints the rights that each entry point needs as JSON. It is separate,
 * because the compiler's API is an ES module.
 */
const [root, ...entries] = process.argv.slice(2) as [string, ...string[]];
const sources = new Sources(root);
try {
  const needs = entries.map((entry) => [entry, needsOf(new Reach(sources, `${root}/${entry}`))]);
  process.stdout.write(JSON.stringify(Object.fromEntries(needs)));
} finally {
  sources.close();
}
