import { parseArgs } from "node:util";
import { mlflowVersion, startMlflow } from "../../test/peers/mlflow/server";
import { cpuMsOf } from "../support/cpu";
import { describeMachine, machineLine } from "../support/machine";
import { stackAt, startStack } from "../support/stack";
import { type LoadOptions, type LoadResult, runLoad } from "./load";
import { mlflowTarget, nativeTarget, type Target } from "./targets";

const targets: Readonly<Record<string, Target>> = { native: nativeTarget, mlflow: mlflowTarget };

/** Measures many metrics per call by many concurrent clients: the embedded stack's two APIs, and MLflow's own server. */
export async function benchIngest(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      clients: { type: "string", default: "20" },
      metrics: { type: "string", default: "500" },
      seconds: { type: "string", default: "30" },
      "one-run": { type: "boolean", default: false },
      /** `native,mlflow,peer` */
      targets: { type: "string", default: "native,mlflow,peer" },
      /** The `stack.json` of a running stack, instead of starting one. */
      stack: { type: "string" },
      "check-every": { type: "string", default: "1" },
      json: { type: "boolean" },
    },
  });
  const options: LoadOptions = {
    clients: Number(values.clients),
    metrics: Number(values.metrics),
    seconds: Number(values.seconds),
    oneRun: values["one-run"],
    checkEvery: Number(values["check-every"]),
  };
  const machine = describeMachine();
  const wanted = values.targets.split(",");
  const results: LoadResult[] = [];
  const notes: string[] = [];
  for (const name of wanted) {
    const target = targets[name];
    if (target) {
      const stack = values.stack === undefined ? startStack() : undefined;
      try {
        const { api, pid } = stack ?? stackAt(values.stack as string);
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
  if (values.json) process.stdout.write(`${JSON.stringify({ machine, options, results, notes }, null, 2)}\n`);
  else process.stdout.write(`${[machineLine(machine), "", tableOf(options, results), ...notes].join("\n")}\n`);
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
