import { mlflowVersion, startMlflow } from "../../test/peers/mlflow/server";
import { parseOptions } from "../support/arguments";
import { cpuMsOf } from "../support/cpu";
import { startReport } from "../support/report";
import { stackAt, startStack } from "../support/stack";
import { type LoadOptions, type LoadResult, runLoad } from "./load";
import { mlflowTarget, nativeTarget, type Target } from "./targets";

const targets: Readonly<Record<string, Target>> = { native: nativeTarget, mlflow: mlflowTarget };

export async function benchIngest(args: readonly string[]): Promise<void> {
  const values = parseOptions(args, {
    clients: 20,
    metrics: 500,
    seconds: 30,
    oneRun: false,
    /** `native,mlflow,peer` */
    targets: "native,mlflow,peer",
    stack: "",
    checkEvery: 1,
  });
  const options: LoadOptions = {
    clients: values.clients,
    metrics: values.metrics,
    seconds: values.seconds,
    oneRun: values.oneRun,
    checkEvery: values.checkEvery,
  };
  const report = startReport(values.json);
  const wanted = values.targets.split(",");
  const results: LoadResult[] = [];
  const notes: string[] = [];
  for (const name of wanted) {
    const target = targets[name];
    if (target) {
      const stack = values.stack === "" ? startStack() : undefined;
      try {
        const { api, pid } = stack ?? stackAt(values.stack);
        results.push({
          ...(await runLoad(api, target, options, () => cpuMsOf(pid))),
          target: `Ringmaster, ${target.name}`,
        });
      } finally {
        stack?.close();
      }
      continue;
    }
    if (mlflowVersion === undefined) {
      notes.push("no MLflow: name a Python that has it in RINGMASTER_PEERS_PYTHON");
      continue;
    }
    const peer = await startMlflow(undefined, "default");
    const { pid } = peer;
    try {
      // Reading everything back takes it many minutes.
      const load = { ...options, checkEvery: 50 * options.checkEvery };
      const cpuMs = () => (pid === undefined ? 0 : cpuMsOf(pid));
      results.push({
        ...(await runLoad(peer.base, mlflowTarget, load, cpuMs)),
        target: `MLflow ${mlflowVersion}, SQLite`,
      });
    } finally {
      await peer.stop();
    }
  }
  report({ options, results, notes }, "", tableOf(options, results), ...notes);
  if (results.some(({ lost, doubled, wrong }) => lost + doubled + wrong > 0)) process.exitCode = 1;
}

function tableOf({ clients, metrics, seconds, oneRun }: LoadOptions, results: readonly LoadResult[]): string {
  const runs = oneRun ? "one run" : "a run each";
  const rows = results.map(
    ({ target, p50, p99, worst, cpuMs, perSecond, requests, checkedPoints, lost, doubled, wrong }) =>
      `| ${target} | ${[p50, p99, worst].map((ms) => ms.toFixed(1)).join(" | ")} | ${cpuMs.toFixed(2)} | ${perSecond.toFixed(0)} | ${requests} | ${checkedPoints} | ${lost}, ${doubled}, ${wrong} |`,
  );
  return [
    `${clients} clients, ${runs}, ${metrics} metrics a call, ${seconds} s`,
    "",
    "| target | p50 ms | p99 ms | worst ms | CPU ms a call | calls/s | calls | points read back | lost, doubled, wrong |",
    "|---|---|---|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}
