import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { sha256 } from "../core/digest";
import type { UploadPort } from "../core/ports";
import type { CodeReference, SubmittedEnvironment } from "../core/runs/shapes";
import { describeChanges, type Git } from "./code-changes";
import { uploadBytes } from "./uploads";

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

/**
 * Describes the origin of a directory's code: repository, branch, commit and, if there are uncommitted changes, the
 * difference, which is uploaded to the content store. Empty if the directory is no checkout, or git does not exist.
 */
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
