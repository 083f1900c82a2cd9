import { spawnSync } from "node:child_process";

export interface PeerPython {
  readonly python: string;
  readonly torch: string;
}

/** Finds the Python that has PyTorch: `RINGMASTER_PEERS_PYTHON`, otherwise `python3`. A text gives the reason for none. */
export function findTorch(env: NodeJS.ProcessEnv = process.env): PeerPython | string {
  const python = env["RINGMASTER_PEERS_PYTHON"] || "python3";
  const probe = "import torch, torch.distributed as d; assert d.is_gloo_available(); print(torch.__version__)";
  const { status, stdout } = spawnSync(python, ["-c", probe], { encoding: "utf8" });
  if (status === 0) return { python, torch: stdout.trim() };
  return `${python} has no PyTorch with Gloo: install torch, or name a Python that has it in RINGMASTER_PEERS_PYTHON`;
}
