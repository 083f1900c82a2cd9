import { execFileSync, spawnSync } from "node:child_process";
import { resolve } from "node:path";

const python = process.env["RINGMASTER_PEERS_PYTHON"] || "python3";

/** The reason why MLflow's own client is not used; `undefined` if it is. */
export const withoutMlflow =
  spawnSync(python, ["-c", "import mlflow, onnx, onnxruntime"]).status === 0
    ? undefined
    : `${python} cannot import mlflow, onnx and onnxruntime; name a Python that can in RINGMASTER_PEERS_PYTHON`;

/** Runs a script with MLflow's client, configured only with the server's URL. @returns the last JSON document of its output */
export function runPython<T>(api: string, script: string, ...args: readonly string[]): T {
  const env = {
    ...process.env,
    MLFLOW_TRACKING_URI: api,
    MLFLOW_DISABLE_TELEMETRY: "true",
    MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR: "false",
    DO_NOT_TRACK: "true",
    GIT_PYTHON_REFRESH: "quiet",
  };
  const file = resolve(__dirname, "..", "..", script);
  const output = execFileSync(python, [file, ...args], { env, encoding: "utf8", stdio: "pipe" });
  return JSON.parse(output.trim().split("\n").at(-1)!) as T;
}

/** The REST calls of a stock client. @throws Error where one is not answered with 200 */
export function restClient(api: string) {
  async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${api}/api/2.0/${path}`, {
      method,
      headers: { "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as T;
  }
  return {
    get: <T>(path: string, query: Readonly<Record<string, string>> = {}) =>
      call<T>("GET", `mlflow/${path}?${new URLSearchParams(query)}`),
    post: <T>(path: string, body: unknown) => call<T>("POST", `mlflow/${path}`, body),
    /** @param path `<experiment>/<run>/artifacts/<file>` */
    async putFile(path: string, content: Uint8Array<ArrayBuffer>): Promise<void> {
      const url = `${api}/api/2.0/mlflow-artifacts/artifacts/${path}`;
      const response = await fetch(url, { method: "PUT", body: content });
      if (!response.ok) throw new Error(`PUT ${path}: ${response.status} ${await response.text()}`);
    },
    async getFile(path: string): Promise<Buffer> {
      const response = await fetch(`${api}/api/2.0/mlflow-artifacts/artifacts/${path}`);
      if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`);
      return Buffer.from(await response.arrayBuffer());
    },
  };
}
