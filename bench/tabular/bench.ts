import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { list, parseOptions } from "../support/arguments";
import { median } from "../support/median";
import { requirePeerScript } from "../support/peer-python";
import { startReport } from "../support/report";
import { startStack } from "../support/stack";
import { markdownTable } from "../support/table";

type Task = "binary" | "regression";

interface Result {
  readonly name: string;
  readonly task: Task;
  readonly own: readonly number[];
  readonly peer: readonly number[];
}

/**
 * Compares an `mlp` on the default features with scikit-learn's HistGradientBoosting on five tabular data sets, by AUC or R²
 * on the same quarter of the rows. The job is the same for all sets, but for the name. The peer also trains on the rows by
 * which the job stops early. `--seeds N` (3) shuffles and draws the sets again, `--sets a,b` chooses sets, `--json` for machines.
 */
export async function benchTabular(args: readonly string[]): Promise<void> {
  const { seeds, sets, json } = parseOptions(args, { seeds: 3, sets: "" });
  const wanted = list(sets);
  const report = startReport(json);
  const stack = startStack();
  const results = new Map<string, { task: Task; own: number[]; peer: number[] }>();
  for (let seed = 1; seed <= seeds; seed += 1) {
    const tasks = requirePeerScript<Readonly<Record<string, Task>>>("tabular/sets.py", [stack.directory, seed]);
    for (const [name, task] of Object.entries(tasks)) {
      if (wanted.length > 0 && !wanted.includes(name)) continue;
      const result = results.get(name) ?? { task, own: [], peer: [] };
      results.set(name, result);
      result.own.push(train(name, task, seed));
      const { score } = requirePeerScript<{ readonly score: number }>("tabular/peer.py", [
        stack.directory,
        name,
        task,
        0.75,
      ]);
      result.peer.push(score);
      process.stderr.write(`seed ${seed} ${name}: ${result.own.at(-1)?.toFixed(4)}, peer ${score.toFixed(4)}\n`);
    }
  }
  stack.close();
  const all = [...results].map(([name, result]): Result => ({ name, ...result }));
  const rows = all.map(({ name, task, own, peer }) => {
    const differences = own.map((score, index) => score - peer[index]!);
    return [
      name,
      task === "binary" ? "AUC" : "R²",
      ...[median(own), median(peer), median(differences)].map((value) => value.toFixed(4)),
    ];
  });
  const columns = ["set", "metric", "mlp", "HistGradientBoosting", "difference"];
  report({ seeds, results: all }, `medians of ${seeds}`, "", markdownTable(columns, rows));

  function train(name: string, task: Task, seed: number): number {
    const file = join(stack.directory, `${name}.csv`);
    const dataset = `${name}-${seed}`;
    const schema = stack.ringmaster(["datasets", "schema", file, "--label", "y"]) as {
      readonly columns: readonly { readonly name: string; readonly note?: string }[];
    };
    const columns = schema.columns.map(({ note, ...column }) =>
      column.name === "at" ? { ...column, role: "ignore" } : column,
    );
    const schemaFile = join(stack.directory, `${dataset}.schema.yaml`);
    writeFileSync(schemaFile, JSON.stringify({ ...schema, columns, split }));
    stack.ringmaster(["datasets", "push", dataset, "--file", file, "--schema", schemaFile]);
    const job = join(stack.directory, `${dataset}.yaml`);
    writeFileSync(job, readFileSync(join("bench", "tabular", "job.yaml"), "utf8").replace("DATASET", dataset));
    const run = stack.ringmaster(["submit", job, "--wait"]) as {
      readonly evaluation: Readonly<Record<string, number>>;
    };
    return run.evaluation[task === "binary" ? "auc" : "r2"]!;
  }
}

/** The first three fifths of the rows are for training, the last quarter is the test split. */
const split = { by: "time", column: "at", fractions: { train: 0.6, validation: 0.15, test: 0.25 } };
