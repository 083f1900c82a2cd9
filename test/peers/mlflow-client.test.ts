import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startOurs } from "./mlflow/ours";
import { describeWithMlflow, type MlflowServer, mlflowVersion } from "./mlflow/server";

const python = process.env["RINGMASTER_PEERS_PYTHON"] || "python3";

/** Steps of the script, in its order. */
const steps = [
  "an_experiment",
  "experiments_come_and_go",
  "a_run_with_params_metrics_and_tags",
  "histories",
  "what_is_refused",
  "batches",
  "asynchronously",
  "datasets",
  "searches",
  "artifacts",
  "figures",
  "a_model_of_ones_own",
  "a_model_of_scikit_learn",
  "the_registry",
  "aliases",
  "stages",
  "what_goes",
] as const;

describeWithMlflow(`the stock client of MLflow ${mlflowVersion}, configured only with the server's URL`, () => {
  let ours: MlflowServer;
  let results: Readonly<Record<string, string>>;
  const directory = mkdtempSync(join(tmpdir(), "mlflow-client-"));
  beforeAll(async () => {
    ours = await startOurs();
    results = await runScript(ours.base, directory);
  }, 300_000);
  afterAll(async () => {
    await ours?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it.each(steps)("%s", (step) => expect(results[step]).toBe("passed"));

  it("has no other step", () => expect(Object.keys(results)).toEqual(steps));
});

function runScript(base: string, cwd: string): Promise<Readonly<Record<string, string>>> {
  return new Promise((resolve, reject) => {
    const child = spawn(python, [join(__dirname, "mlflow-client.py")], {
      cwd,
      env: {
        ...process.env,
        MLFLOW_TRACKING_URI: base,
        MLFLOW_DISABLE_TELEMETRY: "true",
        DO_NOT_TRACK: "true",
        GIT_PYTHON_REFRESH: "quiet",
      },
    });
    let out = "";
    let err = "";
    child.stdout.on("data", (chunk) => (out += String(chunk)));
    child.stderr.on("data", (chunk) => (err += String(chunk)));
    child.on("error", reject);
    child.on("close", () => {
      const line = /^RESULT (.*)$/m.exec(out)?.[1];
      if (line === undefined) reject(new Error(`the script said nothing: ${err.slice(-4000)}`));
      else resolve(JSON.parse(line) as Readonly<Record<string, string>>);
    });
  });
}
