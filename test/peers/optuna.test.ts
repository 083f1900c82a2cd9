import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

const python = process.env["RINGMASTER_PEERS_PYTHON"] || "python3";
const probe = spawnSync(python, ["-c", "import optuna; print(optuna.__version__)"], { encoding: "utf8" });
const title =
  probe.status === 0
    ? `Optuna ${probe.stdout.trim()}`
    : `Optuna (skipped: ${python} cannot import optuna; name a Python that can in RINGMASTER_PEERS_PYTHON)`;

(probe.status === 0 ? describe : describe.skip)(`Studies of ${title}`, () => {
  // UPDATE_PEERS=1 stores the studies of another version.
  it("have the importance that is stored, with which api/pages is compared", () => {
    const { stdout, stderr } = spawnSync(python, [path.join(__dirname, "optuna-importance.py")], { encoding: "utf8" });
    const file = path.join(__dirname, "optuna-importance.jsonl");
    if (process.env["UPDATE_PEERS"]) writeFileSync(file, stdout);
    const figures = (text: string) =>
      text.split("\n").flatMap((line) => {
        const { name, importance } = JSON.parse(line || "{}");
        return Object.entries<number>(importance ?? {}).map(
          ([parameter, figure]) => [name, parameter, figure] as const,
        );
      });
    const [made, stored] = [figures(stdout), figures(readFileSync(file, "utf8"))];
    if (made.length === 0) throw new Error(stderr);
    expect(made.map(([name, parameter]) => [name, parameter])).toEqual(
      stored.map(([name, parameter]) => [name, parameter]),
    );
    // Other versions of scikit-learn grow other forests.
    for (const [at, [, , figure]] of made.entries()) expect(Math.abs(figure - stored[at]![2])).toBeLessThan(0.03);
  }, 120_000);
});
