import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import path from "node:path";

const repository = path.resolve(__dirname, "../..");
const dockerfile = path.join(repository, "trainer-container", "Dockerfile");

const stageMs = 300_000;

export const imageUser = 10_001;

/** Folders of this machine that stand in for the base image's. */
const systemFolders = ["usr", "bin", "sbin", "lib", "lib64", "lib32", "etc"];

/** The reason why the image's file system cannot be staged on this machine, if there is one. */
export function whyNotStaged(): string | undefined {
  if (process.platform !== "linux") return "mount namespaces need Linux";
  if (process.getuid?.() !== 0) return "a mount namespace with another user's processes needs root";
  const { status, error } = spawnSync("unshare", ["--mount", "true"]);
  if (status !== 0) return `mount namespaces are missing (unshare: ${error?.message ?? `exit code ${status}`})`;
  if (!realpathSync(process.execPath).startsWith("/usr/")) return "Node is not below /usr";
  return undefined;
}

interface Instruction {
  readonly keyword: string;
  readonly text: string;
}

function readStages(): ReadonlyMap<string, readonly Instruction[]> {
  const lines = readFileSync(dockerfile, "utf8")
    .split("\n")
    .filter((line) => !/^\s*#/.test(line))
    .join("\n")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n");
  const stages = new Map<string, Instruction[]>();
  let current: Instruction[] = [];
  for (const line of lines) {
    const [, keyword = "", text = ""] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (keyword === "FROM") {
      current = [];
      stages.set(/ AS (\S+)$/.exec(text)?.[1] ?? "", current);
    } else if (keyword !== "") current.push({ keyword, text });
  }
  return stages;
}

export function imageEnvironment(): Readonly<Record<string, string>> {
  const text = readStages()
    .get("")!
    .find(({ keyword }) => keyword === "ENV")!.text;
  return Object.fromEntries(text.split(/\s+/).map((pair) => pair.split("=") as [string, string]));
}

/** Makes a root folder whose system folders are this machine's, by links or by mounts (`mountScript`). */
function makeRoot(root: string): void {
  mkdirSync(root, { recursive: true });
  for (const name of [...systemFolders, "dev", "proc", "tmp", "root", "run"]) {
    if (!existsSync(`/${name}`)) continue;
    if (lstatSync(`/${name}`).isSymbolicLink()) symlinkSync(readlinkSync(`/${name}`), path.join(root, name));
    else mkdirSync(path.join(root, name), { recursive: true });
  }
  chmodSync(path.join(root, "tmp"), 0o1777);
}

/** Returns the shell commands that mount this machine's system folders, read-only, into a root folder. */
function mountScript(root: string): string {
  const folders = systemFolders.filter((name) => existsSync(`/${name}`) && !lstatSync(`/${name}`).isSymbolicLink());
  return [
    ...folders.map((name) => `mount --bind /${name} ${root}/${name} && mount -o remount,bind,ro ${root}/${name}`),
    `mount --rbind /dev ${root}/dev`,
    `mount --rbind /proc ${root}/proc`,
  ].join("\n");
}

function runStage(instructions: readonly Instruction[], root: string): void {
  makeRoot(root);
  let directory = "/";
  for (const { keyword, text } of instructions) {
    if (keyword === "WORKDIR") {
      directory = text;
      mkdirSync(path.join(root, directory), { recursive: true });
    } else if (keyword === "COPY") {
      const words = text.split(/\s+/);
      copy(words.slice(0, -1), path.join(root, directory), words.at(-1)!);
    } else if (keyword === "RUN") runIn(root, directory, text.replaceAll(/--mount=\S+\s+/g, ""));
    else throw new Error(`the stage has the instruction ${keyword}, which this test does not know`);
  }
}

function copy(sources: readonly string[], directory: string, target: string): void {
  for (const source of sources) {
    const into = target.endsWith("/") ? path.join(target, path.basename(source)) : target;
    cpSync(path.join(repository, source), path.join(directory, into), {
      recursive: true,
      filter: (file) => path.basename(file) !== "node_modules",
    });
  }
}

function runIn(root: string, directory: string, command: string): void {
  const npmCache = spawnSync("npm", ["config", "get", "cache"], { encoding: "utf8" }).stdout.trim();
  const script = `set -e
${mountScript(root)}
mkdir -p ${root}/root/.npm ${npmCache} && mount --bind ${npmCache} ${root}/root/.npm
exec chroot ${root} /bin/sh -c 'cd "$0" && eval "$1"' "$0" "$1"`;
  const { TMPDIR: _, ...environment } = process.env;
  const env = { ...environment, HOME: "/root", npm_config_cache: "/root/.npm", npm_config_prefer_offline: "true" };
  const args = ["--mount", "--propagation", "private", "sh", "-c", script, directory, command];
  const { status, stdout, stderr } = spawnSync("unshare", args, { encoding: "utf8", env, timeout: stageMs });
  if (status !== 0) throw new Error(`${command} ended with ${status}: ${stdout.slice(-2_000)}${stderr.slice(-4_000)}`);
}

export interface StagedImage {
  readonly root: string;
  /** Returns a program and arguments that run a command as the image's user in a new container with its own `/scratch`. */
  container(command: readonly string[]): readonly [program: string, ...args: string[]];
  remove(): void;
}

/**
 * Stages the image's file system: runs the instructions of the stages `bundles` and `packages`, and copies what the last
 * stage copies. The base image is this machine's `/usr` and `/etc`. `native` is the folder of an installed binding.
 */
export function stageImage(native: string | undefined): StagedImage {
  // On a disk: two trees of packages have more than a gigabyte.
  const directory = mkdtempSync("/var/tmp/ringmaster-image-");
  chmodSync(directory, 0o755);
  const stages = readStages();
  for (const name of ["bundles", "packages"]) runStage(stages.get(name)!, path.join(directory, name));
  const root = path.join(directory, "image");
  makeRoot(root);
  for (const { keyword, text } of stages.get("")!) {
    const [, from = "", source = "", target = ""] = /^--from=(\S+) (\S+) (\S+)$/.exec(text) ?? [];
    if (keyword !== "COPY" || from === "node") continue;
    if (from !== "native") cpSync(path.join(directory, from, source), path.join(root, target), { recursive: true });
    else if (native) cpSync(native, path.join(root, target, path.basename(native)), { recursive: true });
  }
  for (const name of ["scratch", "home/trainer"]) mkdirSync(path.join(root, name), { recursive: true });
  for (const name of ["bundles", "packages"]) rmSync(path.join(directory, name), { recursive: true });
  const script = `set -e
volume=$(mktemp -d ${directory}/scratch-XXXXXX)
chown ${imageUser}:${imageUser} "$volume" && chmod 700 "$volume"
mount --bind ${root} ${root}
${mountScript(root)}
mount -t tmpfs -o size=64m,mode=1777 tmpfs ${root}/tmp
mount --bind "$volume" ${root}/scratch
mount -o remount,bind,ro ${root}
exec chroot --userspec=${imageUser}:${imageUser} --groups=${imageUser} ${root} "$0" "$@"`;
  return {
    root,
    container: (command) => ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, ...command],
    remove: () => rmSync(directory, { recursive: true }),
  };
}
