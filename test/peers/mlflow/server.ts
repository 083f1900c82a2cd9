import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../free-port";

const python = process.env["RINGMASTER_PEERS_PYTHON"] || "python3";
const probe = spawnSync(python, ["-c", "import mlflow; print(mlflow.__version__)"], { encoding: "utf8" });

/** `undefined` where it is not installed. */
export const mlflowVersion = probe.status === 0 ? probe.stdout.trim() : undefined;

/** As `describe`; skipped, with a line that says why, where MLflow is not installed (`pip install mlflow`). */
export function describeWithMlflow(title: string, tests: () => void): void {
  if (mlflowVersion !== undefined) describe(title, tests);
  else {
    describe.skip(
      `${title} (skipped: ${python} cannot import mlflow; name a Python that can in RINGMASTER_PEERS_PYTHON)`,
      tests,
    );
  }
}

export interface MlflowServer {
  readonly base: string;
  /** Its processes' father; absent of one that ran already. */
  readonly pid?: number;
  stop(): Promise<void>;
}

/**
 * MLflow's own server over SQLite and a folder, on a free port. One that runs already may be named in
 * RINGMASTER_MLFLOW_SERVER: it takes a while to start.
 *
 * @param fill puts something into its database before it starts
 * @param workers `default`: as many as MLflow starts by itself
 */
export async function startMlflow(
  fill?: (databaseUri: string) => void,
  workers: number | "default" = 1,
): Promise<MlflowServer> {
  const running = fill ? undefined : process.env["RINGMASTER_MLFLOW_SERVER"];
  if (running) return { base: running, stop: async () => undefined };
  const directory = mkdtempSync(join(tmpdir(), "mlflow-server-"));
  const databaseUri = `sqlite:///${join(directory, "mlflow.db")}`;
  fill?.(databaseUri);
  const port = await freePort();
  const child = spawn(
    python,
    [
      ...["-m", "mlflow", "server", "--host", "127.0.0.1", "--port", String(port)],
      ...(workers === "default" ? [] : ["--workers", String(workers)]),
      ...["--backend-store-uri", databaseUri],
      ...["--artifacts-destination", join(directory, "artifacts")],
    ],
    {
      cwd: directory,
      // A group of its own: the server has children, which would outlive it.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        MLFLOW_DISABLE_TELEMETRY: "true",
        DO_NOT_TRACK: "true",
        MLFLOW_SERVER_ENABLE_JOB_EXECUTION: "false",
      },
    },
  );
  // If this process ends before it has stopped the server, the server ends with it.
  const forget = (): void => void endGroup(child);
  process.once("exit", forget);
  const base = `http://127.0.0.1:${port}`;
  const stop = async (): Promise<void> => {
    process.off("exit", forget);
    await killGroup(child);
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await healthy(child, base);
  } catch (error) {
    await stop();
    throw error;
  }
  return { base, pid: child.pid!, stop };
}

async function healthy(child: ChildProcess, base: string): Promise<void> {
  let log = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk) => (log = `${log}${String(chunk)}`.slice(-4000)));
  for (;;) {
    if (child.exitCode !== null) throw new Error(`MLflow's server ended at once: ${log}`);
    const well = await fetch(`${base}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (well) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function killGroup(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  if (endGroup(child)) await ended;
}

/** False where it has ended by itself. */
function endGroup(child: ChildProcess): boolean {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return false;
  return process.kill(-child.pid, "SIGKILL");
}
