import { execFile } from "node:child_process";

/** A reading of nvidia-smi for one device. */
export interface GpuReading {
  /** Share of about the last second in which a kernel ran. */
  readonly utilization: number;
  readonly memoryBytes: number;
}

export type RunCommand = (command: string, args: readonly string[]) => Promise<string>;

const patienceMs = 5_000;

const run: RunCommand = (command, args) =>
  new Promise((resolve, reject) => {
    execFile(command, args, { encoding: "utf8", timeout: patienceMs }, (error, stdout) => {
      if (error) reject(error);
      else resolve(stdout);
    });
  });

/**
 * Reads the device that this process computes on, independently of the training.
 *
 * @param device as in CUDA_VISIBLE_DEVICES
 * @returns undefined if nvidia-smi fails, or has no value: a MIG slice has no utilisation
 */
export async function readGpu(device: string, command: RunCommand = run): Promise<GpuReading | undefined> {
  try {
    const query = ["--query-gpu=utilization.gpu,memory.used", "--format=csv,noheader,nounits", "-i", device];
    const [percent, mebibytes] = (await command("nvidia-smi", query))
      .trim()
      .split(/\s*,\s*/)
      .map(Number);
    if (!Number.isFinite(percent) || !Number.isFinite(mebibytes)) return undefined;
    return { utilization: percent! / 100, memoryBytes: mebibytes! * 2 ** 20 };
  } catch {
    return undefined;
  }
}
