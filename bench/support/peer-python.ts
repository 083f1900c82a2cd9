import { spawnSync } from "node:child_process";
import { join } from "node:path";

export interface PeerPython {
  readonly python: string;
  readonly torch: string;
}

/** Finds the Python that has PyTorch: `RINGMASTER_PEERS_PYTHON`, otherwise `python3`. A text gives the reason for none. */
export function findTorch(env: NodeJS.ProcessEnv = process.env): PeerPython | string {
  const python = peersPython(env);
  const probe = "import torch, torch.distributed as d; assert d.is_gloo_available(); print(torch.__version__)";
  const { status, stdout } = spawnSync(python, ["-c", probe], { encoding: "utf8" });
  if (status === 0) return { python, torch: stdout.trim() };
  return `${python} has no PyTorch with Gloo: install torch, or name a Python that has it in RINGMASTER_PEERS_PYTHON`;
}

/** The Python of peers: `RINGMASTER_PEERS_PYTHON`, otherwise `python3`. */
export const peersPython = (env: NodeJS.ProcessEnv = process.env): string =>
  env["RINGMASTER_PEERS_PYTHON"] || "python3";

/**
 * Runs a peer's script, which prints its result as the last line, in JSON. A text gives the reason for none.
 *
 * @param script path below `bench`
 * @param input standard input, in JSON
 */
export function runPeerScript<T>(script: string, args: readonly (string | number)[], input?: object): T | string {
  const { status, stdout, stderr } = spawnSync(peersPython(), [join("bench", script), ...args.map(String)], {
    encoding: "utf8",
    maxBuffer: 2 ** 26,
    ...(input && { input: JSON.stringify(input) }),
  });
  if (status === 0) return JSON.parse(stdout.trim().split("\n").at(-1)!) as T;
  const reason = (stderr ?? "").trim().split("\n").at(-1);
  return `${script} did not run; RINGMASTER_PEERS_PYTHON names a Python that has its packages: ${reason}`;
}

/** Like `runPeerScript`. @throws Error if there is no result */
export function requirePeerScript<T extends object>(
  script: string,
  args: readonly (string | number)[],
  input?: object,
): T {
  const result = runPeerScript<T>(script, args, input);
  if (typeof result === "string") throw new Error(result);
  return result;
}

/** Returns the line about PyTorch in a report. */
export const peerLine = (torch: PeerPython | string, how: string): string =>
  typeof torch === "string" ? `peer skipped: ${torch}` : `peer: PyTorch ${torch.torch}, ${how}`;

/** Returns what a report in JSON says about PyTorch. */
export const describePeer = (torch: PeerPython | string, name: string): object =>
  typeof torch === "string" ? { skipped: torch } : { name, version: torch.torch };
