import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { sha256 } from "../../core/digest";
import { TrainingHaltedError } from "../loop/errors";

const run = promisify(execFile);

/**
 * Returns the `bin` folder of a virtual environment with the packages of a requirements file, each with its hash. Cached
 * by content; of two processes that make it at once, the first wins.
 * @throws TrainingHaltedError `BAD_REQUIREMENTS`
 */
export async function pythonEnvironment(requirements: string, cache: string): Promise<string> {
  try {
    const { stdout } = await run("python3", ["--version"]);
    const place = join(cache, "python", sha256(`${stdout}\0${readFileSync(requirements, "utf8")}`));
    if (!existsSync(place)) {
      const own = `${place}-${process.pid}`;
      mkdirSync(dirname(place), { recursive: true });
      await run("python3", ["-m", "venv", own]);
      const options = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes"];
      await run(join(own, "bin", "python"), [...options, "-r", requirements], { maxBuffer: 2 ** 26 });
      try {
        symlinkSync(own, place);
      } catch {
        rmSync(own, { recursive: true, force: true });
      }
    }
    return join(readlinkSync(place), "bin");
  } catch (error) {
    const { stderr = "", message } = error as Error & { readonly stderr?: string };
    const rule =
      "python.requirements must name a file of the code folder in which every package has a version and --hash";
    throw new TrainingHaltedError("BAD_REQUIREMENTS", `${rule}: ${stderr.trim().slice(-1_000) || message}`);
  }
}
