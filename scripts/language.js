/**
 * Checks the language of comments, strings, names and documents (docs/glossary.md).
 *
 *   node scripts/language.js                checks the repository
 *   node scripts/language.js core docs      checks these paths
 *   node scripts/language.js --count [path] prints the number of findings in each folder
 *
 * Exits with 1 if it finds anything.
 */
const fs = require("node:fs");
const path = require("node:path");

/** Words that make the first words of a comment or string a fragment. */
const openers =
  "Of|Whose|Those|What|Beside|Besides|Who|Whoever|That|Which|Why|How|Where|Than|Else|Fine|Made|Had|Nor|Upon|Till";
const opening = "begin with a verb in the third person, or with a noun";

/** Pattern and replacement. Names are split at their capitals before the comparison. */
const words = [
  [/no more(?! than)/, "no longer"],
  [/anew/, "again"],
  [/beside/, "next to"],
  [/besides/, "also, other than"],
  [/for good/, "permanently"],
  [/of now/, "current"],
  [/meanwhile/, "in the meantime"],
  [/whoever|whomever/, "the caller, the process that"],
  [/somebody|someone/, "the caller, a person, another worker"],
  [/he|his|him|himself/, "the process, the caller, the person"],
  [/doors?/, "API, endpoint"],
  [/told|untold/, "notified, sent, published, stated"],
  [/asked/, "requested"],
  [/moments?/, "time, timestamp"],
  [
    /(?:person's|for (?:a|the)|upon (?:a|the)|gives? (?:a|the|its)|last|no|good) word|word to come/,
    "approval, decision",
  ],
  [/overtaken|overtakes?|overtook/, "lost the race, superseded"],
  [/enthron\w+/, "setChampion"],
  [/couriers?/, "sender"],
  [/pulses?/, "heartbeat"],
  [/accus\w+/, "report as lost, reportLost"],
  [/glanc\w+/, "readHead"],
  [/crowd\w*/, "large gang"],
  [/patrol\w*/, "monitor"],
  [/standings?/, "status"],
  [/wind[- ]up|winding up|wound up/, "clean up"],
  [/insist\w*/, "retry"],
  [/\w+ing (?:\w+ )?twice is/, "idempotent"],
].map(([pattern, instead]) => [new RegExp(`\\b(?:${pattern.source})\\b`, "i"), instead]);

/** Compared with the line as it is. */
const names = [
  [/\b(?:most|longest|greatest)[A-Z]\w*|(?<!\bat)(?<=[a-z])(?:Most|Longest|Greatest)[A-Z]\w*/, "max…: maxRows"],
  [/\b(?:least|shortest|fewest)[A-Z]\w*|(?<!\bat)(?<=[a-z])(?:Least|Shortest|Fewest)[A-Z]\w*/, "min…: minBytes"],
];

/** Uses that are right: where (a prefix of the path), the found text, and the reason. */
const exceptions = [
  ["core/tuning", /^crowd(ing|ed)$/i, "the crowding distance of NSGA-II (Deb et al., 2002)"],
  ["test/core/tuning", /^crowd(ing|ed)$/i, "the crowding distance of NSGA-II (Deb et al., 2002)"],
  ["trainer-container/optimizer", /^moments?$/i, "Adam's first and second moment"],
  ["trainer-container/engine", /^moments?$/i, "Adam's first and second moment"],
  ["trainer-container/kernels", /^moments?$/i, "Adam's first and second moment"],
  ["trainer-container/tfjs", /^moments?$/i, "Adam's first and second moment"],
  ["trainer-container/engine/built-in-models.ts", /^he$/i, "the initializer of He et al. (2015)"],
  ["trainer-container/gang", /^accused$/, "an attribute of stored rows"],
  ["test/trainer/gang", /^accused$/, "an attribute of stored rows"],
  ["test/support/memory-gang-store.ts", /^accused$/, "an attribute of stored rows"],
  ["trainer-container/collective", /^pulse$/, "a value on the wire, the kind of a connection"],
  ["test/trainer/collective", /^pulse$/, "a value on the wire, the kind of a connection"],
  ["test/e2e/newcomer/files.ts", /^he$/, "He's initialization of weights"],
  ["core", /^mostFrequent/, "the most frequent element or value, no limit"],
  ["test/trainer/engine", /^moments?$/i, "mean and variance, as TensorFlow.js names them"],
  ["bench/checkpoint", /^moments?$/i, "Adam's first and second moment"],
  ["bench/train/torch_models.py", /^he$/i, "the initializer of He et al. (2015)"],
  ["docs/algorithms.md", /^moments?$/i, "Adam's first and second moment"],
];

const ignored = /^(?:scripts\/language\.js|test\/peers\/.*recorded\/.*|examples\/.*\.(?:csv|json))$/;
const read = /\.(?:ts|js|mjs|md|py|ya?ml|html|css|sh)$/;

const root = path.resolve(__dirname, "..");

function filesOf(relative) {
  if (!fs.statSync(path.join(root, relative)).isDirectory()) return [relative];
  return fs
    .readdirSync(path.join(root, relative))
    .filter((name) => !/^(?:\..*|node_modules|dist|cdk\.out|shared)$/.test(name))
    .flatMap((name) => filesOf(path.join(relative, name)));
}

/** Returns the fragment that a comment or string on this line opens with. */
function fragmentOf(line, before) {
  const comment = /^\s*(?:\/\*\*|\*|\/\/|#) ?(.*)$/.exec(line) ?? /\s(?:\/\/|\/\*\*) (.*)$/.exec(line);
  const continues =
    (/^\s*\*/.test(line) && /^\s*(?:\/\*\*|\*) *\S/.test(before)) || (/^\s*\/\//.test(line) && /^\s*\/\//.test(before));
  const texts = comment && !continues ? [comment[1]] : [];
  for (const [, text] of line.matchAll(/["'`]((?:[A-Z][a-z]+) [a-z][^"'`]*)["'`]/g)) texts.push(text);
  const fragment = texts.find((text) => new RegExp(`^(?:${openers}) [^?]*$`).test(text));
  return fragment?.slice(0, 50);
}

function* findingsIn(file) {
  const lines = fs.readFileSync(path.join(root, file), "utf8").split("\n");
  const isDocument = file.endsWith(".md");
  for (const [index, line] of lines.entries()) {
    const found = [];
    const fragment = isDocument ? undefined : fragmentOf(line, lines[index - 1] ?? "");
    if (fragment !== undefined) found.push([fragment, opening]);
    const spaced = line.replace(/([a-z0-9])([A-Z])/g, "$1 $2");
    for (const [pattern, instead] of words) {
      const match = pattern.exec(spaced);
      if (match) found.push([match[0], instead]);
    }
    for (const [pattern, instead] of names) {
      const match = pattern.exec(line);
      if (match) found.push([match[0], instead]);
    }
    for (const [text, instead] of found) {
      const allowed = exceptions.some(([where, what]) => file.startsWith(where) && what.test(text));
      if (!allowed) yield { file, line: index + 1, text, instead };
    }
  }
}

function main(args) {
  const paths = args.filter((argument) => !argument.startsWith("--"));
  const files = (paths.length > 0 ? paths : ["."]).flatMap(filesOf);
  const findings = files
    .filter((file) => read.test(file) && !ignored.test(file))
    .flatMap((file) => [...findingsIn(file)]);
  if (args.includes("--count")) {
    const counts = new Map();
    for (const { file } of findings) {
      const folder = path.dirname(file).split("/").slice(0, 2).join("/");
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
    for (const [folder, count] of [...counts].sort()) console.log(`${folder}: ${count}`);
    console.log(`total: ${findings.length}`);
  } else {
    for (const { file, line, text, instead } of findings) console.log(`${file}:${line}: ${text} → ${instead}`);
  }
  process.exitCode = findings.length > 0 ? 1 : 0;
}

main(process.argv.slice(2));
