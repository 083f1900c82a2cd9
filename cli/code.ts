import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { sha256 } from "../core/digest";
import type { UploadPort } from "../core/ports";
import type { CodeReference, SubmittedEnvironment } from "../core/runs/shapes";
import { uploadBytes } from "./uploads";

/** Runs git; returns `undefined` if it fails or does not exist. */
type Git = (...args: readonly string[]) => string | undefined;

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
 * Returns the difference from the commit as a patch for `git apply`, in latin1; names of omitted files stand before it.
 */
function describeChanges(git: Git, commit: string): string {
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

/** Lockfiles of package managers, of which one is next to the code. */
const lockfiles = [
  "package-lock.json",
  "npm-shrinkwrap.json",
  "yarn.lock",
  "pnpm-lock.yaml",
  "bun.lock",
  "uv.lock",
  "poetry.lock",
  "requirements.txt",
];
/** Larger than any diff that is kept; git is stopped beyond it. */
const maxOutput = 64 * 1024 * 1024;

/** Describes the origin of a directory's code, and uploads uncommitted changes. Empty without git or checkout. */
export async function describeCode(directory: string, uploads: (() => UploadPort) | undefined): Promise<CodeReference> {
  const git = gitIn(directory);
  const commit = git("rev-parse", "HEAD");
  const root = git("rev-parse", "--show-toplevel");
  if (commit === undefined || root === undefined) return {};
  const dirty = git("status", "--porcelain") !== "";
  const branch = git("symbolic-ref", "--short", "-q", "HEAD");
  const remote = git("remote", "get-url", "origin");
  const diff = dirty && uploads ? describeChanges(gitIn(root, "latin1"), commit) : undefined;
  return {
    ...(remote === undefined ? {} : { repository: withoutCredentials(remote) }),
    ...(branch === undefined ? {} : { branch }),
    commit,
    dirty,
    ...(diff === undefined || uploads === undefined
      ? {}
      : { diffSha256: (await uploadBytes(uploads(), Buffer.from(diff, "latin1"))).sha256 }),
  };
}

/** Describes the lockfile in the directory, or the nearest one above it within the checkout. */
export function describeEnvironment(directory: string): SubmittedEnvironment | undefined {
  const root = gitIn(directory)("rev-parse", "--show-toplevel") ?? directory;
  for (let at = directory; ; at = dirname(at)) {
    for (const name of lockfiles) {
      const content = read(join(at, name));
      if (content !== undefined) return { lockfileSha256: sha256(content) };
    }
    if (at === root || at === dirname(at)) return undefined;
  }
}

/** Removes user and password from a URL; `git@host:path` has none. */
export function withoutCredentials(remote: string): string {
  // A local path describes the machine rather than the code.
  if (remote.startsWith("/") || remote.startsWith("file:")) return basename(remote);
  return remote.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, "$1").slice(0, 1_000);
}

/** @param encoding `latin1` keeps every byte of files in any encoding */
function gitIn(directory: string, encoding: "utf8" | "latin1" = "utf8"): Git {
  return (...args) => {
    const result = spawnSync("git", ["-C", directory, ...args], {
      encoding,
      timeout: 30_000,
      maxBuffer: maxOutput,
      // The user's settings do not affect the result, and git never prompts.
      env: { ...process.env, GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" },
    });
    return result.status === 0 ? result.stdout.replace(/\n$/, "") : undefined;
  };
}

function read(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
