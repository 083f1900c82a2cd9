import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { stopWhenEnded } from "../support/ending";

export interface PeerServer {
  readonly name: string;
  readonly base: string;
  readonly pid: number;
  stop(): Promise<void>;
}

const startMs = 120_000;

/** MLflow's own server over SQLite, as `mlflow server` starts it. A text says why there is none. */
export async function startMlflowServer(env: NodeJS.ProcessEnv = process.env): Promise<PeerServer | string> {
  const python = env["RINGMASTER_PEERS_PYTHON"] || "python3";
  const probe = spawnSync(python, ["-c", "import mlflow; print(mlflow.__version__)"], { encoding: "utf8" });
  if (probe.status !== 0)
    return `${python} has no MLflow: install it, or name a Python that has it in RINGMASTER_PEERS_PYTHON`;
  const directory = mkdtempSync(join(tmpdir(), "ringmaster-bench-mlflow-"));
  const port = await freePort();
  const store = ["--backend-store-uri", `sqlite:///${join(directory, "mlflow.db")}`];
  const args = ["-m", "mlflow", "server", "--host", "127.0.0.1", "--port", String(port), ...store];
  // A group of its own: the server's workers go with it.
  const child = spawn(python, args, {
    cwd: directory,
    detached: true,
    stdio: "ignore",
    env: { ...env, MLFLOW_DISABLE_TELEMETRY: "true", DO_NOT_TRACK: "true" },
  });
  const ended = new Promise<void>((resolve) => child.on("exit", () => resolve()));
  const kill = (): void => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, "SIGKILL");
  };
  const clean = (): void => rmSync(directory, { recursive: true, force: true });
  const stopped = stopWhenEnded(() => {
    kill();
    clean();
  });
  const stop = async (): Promise<void> => {
    kill();
    await ended;
    clean();
    stopped();
  };
  const base = `http://127.0.0.1:${port}`;
  for (const until = Date.now() + startMs; ; ) {
    const up = await fetch(`${base}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (up) return { name: `MLflow ${probe.stdout.trim()}, SQLite`, base, pid: child.pid!, stop };
    if (child.exitCode !== null || Date.now() > until) {
      await stop();
      throw new Error(`mlflow server did not come up within ${startMs} ms`);
    }
    await sleep(200);
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
