import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { platform, tmpdir } from "node:os";
import { join } from "node:path";

export interface SmallDisk {
  readonly directory: string;
  /** Fills the disk, apart from some bytes. */
  fill(leftBytes?: number): void;
  free(): void;
  unmount(): void;
}

/**
 * Mounts a small file system, at a new directory by default. Returns undefined, and prints why, where that is not
 * possible.
 */
export function mountSmallDisk(
  megabytes: number,
  directory = mkdtempSync(join(tmpdir(), "small-disk-")),
): SmallDisk | undefined {
  mkdirSync(directory, { recursive: true });
  try {
    if (platform() !== "linux" || process.getuid?.() !== 0) throw new Error("it needs root on Linux");
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", directory], { stdio: "pipe" });
  } catch (error) {
    rmdirSync(directory);
    process.stdout.write(`The tests on a full disk are skipped: no small file system can be mounted (${error}).\n`);
    return undefined;
  }
  const ballast = join(directory, "ballast");
  return {
    directory,
    fill(leftBytes = 0) {
      for (;;) {
        const { bavail, bsize } = statfsSync(directory);
        const size = bavail * bsize - leftBytes;
        if (size < bsize) return;
        try {
          writeFileSync(ballast, Buffer.alloc(size), { flag: "a" });
        } catch (error) {
          // Another process has taken some of the space.
          if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
        }
      }
    },
    free: () => rmSync(ballast, { force: true }),
    unmount() {
      execFileSync("umount", ["--lazy", directory]);
      rmdirSync(directory);
    },
  };
}
