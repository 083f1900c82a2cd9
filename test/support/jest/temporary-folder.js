const fs = require("node:fs");

const minFreeBytes = 4 * 2 ** 30;

/**
 * Puts temporary files of tests and of the stacks that they start into memory, where Linux offers a file system for it and
 * `TMPDIR` is not set. The embedded services sync every write, which on a disk takes longer than the rest of many tests.
 */
exports.useMemory = () => {
  const folder = process.env.TMPDIR ? undefined : makeFolder("/dev/shm");
  if (folder === undefined) return;
  process.env.TMPDIR = folder;
  process.once("exit", () => fs.rmSync(folder, { recursive: true, force: true }));
};

/** @returns a new folder, or undefined where the file system is missing, small or does not allow programs */
function makeFolder(fileSystem) {
  try {
    const { bavail, bsize } = fs.statfsSync(fileSystem);
    const [, options = "noexec"] = fs.readFileSync("/proc/mounts", "utf8").match(/ \/dev\/shm tmpfs (\S+)/) ?? [];
    if (bavail * bsize < minFreeBytes || options.split(",").includes("noexec")) return undefined;
    return fs.mkdtempSync(`${fileSystem}/rm-`);
  } catch {
    return undefined;
  }
}
