import { execFileSync } from "node:child_process";

const identifier = /^(GPU|MIG)-[0-9A-Za-z-]{1,80}$/;
const patienceMs = 5_000;

/**
 * Lists the GPUs of this machine, in the form of CUDA_VISIBLE_DEVICES: those that this variable shows, otherwise all that
 * nvidia-smi lists. Empty if there is no such command.
 */
export function listGpus(environment: NodeJS.ProcessEnv = process.env): readonly string[] {
  const visible = environment["CUDA_VISIBLE_DEVICES"];
  if (visible !== undefined && visible !== "" && visible !== "all") {
    const devices = visible.split(",").map((device) => device.trim());
    return devices.filter((device) => /^\d{1,3}$/.test(device) || identifier.test(device));
  }
  try {
    const output = execFileSync("nvidia-smi", ["--query-gpu=uuid", "--format=csv,noheader"], {
      encoding: "utf8",
      env: environment,
      stdio: ["ignore", "pipe", "ignore"],
      timeout: patienceMs,
    });
    return output
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => identifier.test(line));
  } catch {
    return [];
  }
}
