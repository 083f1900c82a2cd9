/** Runs git; returns `undefined` if it fails or does not exist. */
export type Git = (...args: readonly string[]) => string | undefined;

/** Maximum size of a patch. For a larger one, the commit does not describe the code; the part that fits is kept. */
const maxBytes = 1024 * 1024;
const maxNames = 1_000;

/** Files that usually hold secrets. Only their names are kept. */
const secrets = [
  "**/.env",
  "**/.env.*",
  "**/*.env",
  "**/.npmrc",
  "**/.netrc",
  "**/.pypirc",
  "**/*.pem",
  "**/*.key",
  "**/*.p12",
  "**/*.pfx",
  "**/id_rsa*",
  "**/id_ed25519*",
  "**/credentials*",
  "**/secrets*",
];
/** Overrides the user's settings. */
const plain = ["--no-color", "--no-ext-diff", "--no-textconv", "--no-relative", "--src-prefix=a/", "--dst-prefix=b/"];
const pathspec = (magic: string): readonly string[] => secrets.map((glob) => `:(top,glob,icase${magic})${glob}`);

/**
 * Returns the difference from the commit as a patch for `git apply`: changed files as they are on disk. The names of
 * omitted files (untracked files, files that usually hold secrets, and files that are too large) stand before the
 * patch, where `git apply` ignores them.
 *
 * @param git returns texts with one byte in each character, for files of any encoding
 * @returns such a text
 */
export function describeChanges(git: Git, commit: string): string {
  const diff = (...paths: readonly string[]): string | undefined =>
    git("diff", ...plain, "--binary", "HEAD", "--", ...paths);
  const files = splitFiles(diff(":/", ...pathspec(",exclude")));
  const secret = namesOf(git("diff", ...plain, "--name-only", "HEAD", "--", ...pathspec("")));
  const unknown = namesOf(git("ls-files", "--others", "--exclude-standard"));
  const kept: string[] = [];
  const large: string[] = [];
  let bytes = 0;
  for (const file of files ?? []) {
    const size = file.length;
    if (bytes + size > maxBytes) large.push(file.slice(0, file.indexOf("\n")).replace(/^diff --git /, ""));
    else {
      kept.push(file);
      bytes += size;
    }
  }
  return [
    `# differs from ${commit}`,
    ...(files === undefined ? ["# left out, too large: everything"] : []),
    ...listed("not tracked by git", unknown),
    ...listed("left out, may contain secrets", secret),
    ...listed("left out, too large", large),
    ...kept,
    "",
  ].join("\n");
}

/** Returns one text for each file, without the last line break. */
function splitFiles(diff: string | undefined): readonly string[] | undefined {
  if (diff === undefined) return undefined;
  return diff === "" ? [] : diff.split(/\n(?=diff --git )/);
}

function namesOf(lines: string | undefined): readonly string[] {
  return lines ? lines.split("\n") : [];
}

function listed(what: string, names: readonly string[]): readonly string[] {
  const more = names.length > maxNames ? [`# ${what}: ${names.length - maxNames} more`] : [];
  return [...names.slice(0, maxNames).map((name) => `# ${what}: ${name}`), ...more];
}
