import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeCode, describeEnvironment, withoutCredentials } from "../../cli/code";
import { sha256 } from "../../core/digest";
import type { UploadPort } from "../../core/ports";

let root: string;
const file = (name: string): string => join(root, name);
const git = (...args: string[]): string =>
  execFileSync("git", ["-C", root, "-c", "user.name=a", "-c", "user.email=a@b", ...args], { encoding: "utf8" }).trim();

function store() {
  const contents = new Map<string, Buffer>();
  const uploads: UploadPort = {
    missing: async (references) => references.map(({ sha256 }) => sha256),
    put: async (reference, source) =>
      void contents.set(reference.sha256, Buffer.from("bytes" in source ? source.bytes : "")),
  };
  return { contents, uploads: () => uploads };
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "ringmaster-code-"));
  git("init", "-q", "-b", "trunk");
  mkdirSync(file("job"));
  writeFileSync(file("job/train.ts"), "one\ntwo\n");
  writeFileSync(file("latin.txt"), Buffer.from([0xe4, 0x0a]));
  writeFileSync(file(".env.local"), "A=1\n");
  git("add", ".");
  git("commit", "-q", "-m", "first");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe("the code that a job is submitted from", () => {
  it("is a commit where all is committed", async () => {
    const { contents, uploads } = store();
    git("remote", "add", "origin", "https://ada:hunter2@example.com/team/code.git");
    expect(await describeCode(file("job"), uploads)).toEqual({
      repository: "https://example.com/team/code.git",
      branch: "trunk",
      commit: git("rev-parse", "HEAD"),
      dirty: false,
    });
    expect(contents.size).toBe(0);
  });

  it("is a commit and a patch that makes the rest of it, whatever git is set to", async () => {
    const { contents, uploads } = store();
    git("config", "diff.noprefix", "true");
    git("config", "color.ui", "always");
    appendFileSync(file("job/train.ts"), "three\n");
    writeFileSync(file("latin.txt"), Buffer.from([0xe4, 0xf6, 0x0a]));
    writeFileSync(file("bytes.bin"), Buffer.from([0, 1, 2, 255]));
    git("add", "bytes.bin");
    const { dirty, diffSha256 } = await describeCode(file("job"), uploads);
    expect(dirty).toBe(true);
    const patch = contents.get(diffSha256 as string) as Buffer;
    expect(sha256(patch)).toBe(diffSha256);
    const changed = ["job/train.ts", "latin.txt", "bytes.bin"].map((name) => readFileSync(file(name)));
    git("reset", "-q", "--hard");
    execFileSync("git", ["-C", root, "apply"], { input: patch });
    expect(["job/train.ts", "latin.txt", "bytes.bin"].map((name) => readFileSync(file(name)))).toEqual(changed);
  });

  it("keeps of unknown and secret files the names alone", async () => {
    const { contents, uploads } = store();
    writeFileSync(file(".env.local"), "A=hunter2\n");
    writeFileSync(file("new.ts"), "unknown text\n");
    const { diffSha256 } = await describeCode(file("job"), uploads);
    const patch = String(contents.get(diffSha256 as string));
    expect(patch).toContain("# not tracked by git: new.ts\n");
    expect(patch).toContain("# left out, may contain secrets: .env.local\n");
    expect(patch).not.toMatch(/hunter2|unknown text/);
  });

  it("leaves out a file that is too much, and says so", async () => {
    const { contents, uploads } = store();
    writeFileSync(file("job/train.ts"), "x".repeat(2 * 1024 * 1024));
    writeFileSync(file("latin.txt"), "small\n");
    const { diffSha256 } = await describeCode(root, uploads);
    const patch = contents.get(diffSha256 as string) as Buffer;
    expect(patch.length).toBeLessThan(10_000);
    expect(String(patch)).toContain("# left out, too large: a/job/train.ts b/job/train.ts\n");
    expect(String(patch)).toContain("+small\n");
  });

  it("says no more than that it differs where nobody may know", async () => {
    writeFileSync(file("job/train.ts"), "x");
    const code = await describeCode(root, undefined);
    expect(code).toEqual({ branch: "trunk", commit: git("rev-parse", "HEAD"), dirty: true });
  });

  it("is nothing where there is no checkout", async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), "ringmaster-code-"));
    expect(await describeCode(elsewhere, undefined)).toEqual({});
    rmSync(elsewhere, { recursive: true });
  });
});

describe("the lockfile", () => {
  it("is the nearest one within the checkout", () => {
    expect(describeEnvironment(file("job"))).toBeUndefined();
    writeFileSync(file("package-lock.json"), "{}");
    expect(describeEnvironment(file("job"))).toEqual({ lockfileSha256: sha256("{}") });
    writeFileSync(file("job/uv.lock"), "nearer");
    expect(describeEnvironment(file("job"))).toEqual({ lockfileSha256: sha256("nearer") });
  });
});

it("tells of a repository what is no secret", () => {
  const cleaned = {
    "https://token@github.com/a/b.git": "https://github.com/a/b.git",
    "https://github.com/a/b.git": "https://github.com/a/b.git",
    "git@github.com:a/b.git": "git@github.com:a/b.git",
    "ssh://git@host/a": "ssh://host/a",
    "/home/ada/code": "code",
  };
  expect(Object.keys(cleaned).map(withoutCredentials)).toEqual(Object.values(cleaned));
});
