/** Runs git; `undefined` where it fails, or there is none. */
export type Git = (...args: readonly string[]) => string | undefined;

/** A patch larger than this says that the commit does not describe the code; what fits is kept. */
const mostBytes = 1024 * 1024;
const mostNames = 1_000;

/** Files that hold secrets by custom: of them the name alone is kept. */
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
/** Whatever the user's settings say. */
const plain = ["--no-color", "--no-ext-diff", "--no-textconv", "--no-relative", "--src-prefix=a/", "--dst-prefix=b/"];
const pathspec = (magic: string): readonly string[] => secrets.map((glob) => `:(top,glob,icase${magic})${glob}`);

/**
 * What differs from the commit, as a patch for `git apply`: changed files as they are on disk. Names of what it leaves out (files that git does not know, files that
 * hold secrets by custom, what is too large) stand before it, where `git apply` does not look.
 *
 * @param git answering texts of one byte a character, for files of any encoding. @returns such a text
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
    if (bytes + size > mostBytes) large.push(file.slice(0, file.indexOf("\n")).replace(/^diff --git /, ""));
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

/** One text a file, without the last line's end. */
function splitFiles(diff: string | undefined): readonly string[] | undefined {
  if (diff === undefined) return undefined;
  return diff === "" ? [] : diff.split(/\n(?=diff --git )/);
}

function namesOf(lines: string | undefined): readonly string[] {
  return lines ? lines.split("\n") : [];
}

function listed(what: string, names: readonly string[]): readonly string[] {
  const more = names.length > mostNames ? [`# ${what}: ${names.length - mostNames} more`] : [];
  return [...names.slice(0, mostNames).map((name) => `# ${what}: ${name}`), ...more];
}
