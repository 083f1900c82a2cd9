import { spawnSync } from "node:child_process";
import path from "node:path";
import { readOptunaStudy } from "../../cli/optuna";
import { temporaryFolder } from "../support/temporary-folder";

const python = process.env["RINGMASTER_PEERS_PYTHON"] || "python3";
const probe = spawnSync(python, ["-c", "import optuna; print(optuna.__version__)"], { encoding: "utf8" });
const title =
  probe.status === 0
    ? `Optuna ${probe.stdout.trim()}`
    : `Optuna (skipped: ${python} cannot import optuna; name a Python that can in RINGMASTER_PEERS_PYTHON)`;

interface Reference {
  readonly state: string;
  readonly params: object;
  readonly values: readonly number[] | null;
  readonly reports: readonly (readonly [number, number])[];
  readonly constraints: readonly number[] | null;
}

(probe.status === 0 ? describe : describe.skip)(`Studies of ${title}`, () => {
  const directory = temporaryFolder("optuna-peer");

  it("are read with the values that Optuna itself reads", async () => {
    const file = path.join(directory, "optuna.db");
    const made = spawnSync(python, [path.join(__dirname, "optuna-study.py"), file], { encoding: "utf8" });
    if (made.status !== 0) throw new Error(made.stderr);
    const reference = JSON.parse(made.stdout) as Readonly<Record<string, readonly Reference[]>>;
    for (const [name, trials] of Object.entries(reference)) {
      const ended = trials.filter(({ state, values }) => state === "PRUNED" || (state === "COMPLETE" && values));
      const { trials: found } = await readOptunaStudy(file, name);
      expect(found.trials).toEqual(
        ended.map(({ state, params, values, reports, constraints }) => ({
          state: state === "PRUNED" ? "stopped" : "completed",
          params,
          ...(state === "PRUNED" ? {} : { values }),
          reports: reports.map(([epoch, value]) => ({ epoch, value })),
          ...(constraints ? { constraints } : {}),
        })),
      );
      expect(found.trials.length).toBeGreaterThan(3);
    }
  }, 120_000);
});
