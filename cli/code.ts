import { spawnSync } from "node:child_process";
import type { CodeReference } from "../core/training/run";

/** The git commit that a directory stands at; empty where it is no checkout, or there is no git. */
export function describeCode(directory: string): CodeReference {
  const git = (...args: string[]): string | undefined => {
    const result = spawnSync("git", ["-C", directory, ...args], { encoding: "utf8", timeout: 10_000 });
    return result.status === 0 ? result.stdout.trim() : undefined;
  };
  const commit = git("rev-parse", "HEAD");
  if (commit === undefined) return {};
  return { commit, dirty: git("status", "--porcelain") !== "" };
}
