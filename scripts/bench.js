/** Bundles a benchmark and runs it: `npm run bench -- collective [--json]`. */
const fs = require("node:fs");
const path = require("node:path");
const { spawn } = require("node:child_process");

const root = path.resolve(__dirname, "..");
const out = path.join(root, "dist", `bench-${process.pid}`);
const clean = () => fs.rmSync(out, { recursive: true, force: true });
try {
  require("esbuild").buildSync({
    absWorkingDir: root,
    entryPoints: {
      main: "bench/main.ts",
      "asof-join": "bench/asof/join.ts",
      "checkpoint-store": "bench/checkpoint/store.ts",
      "checkpoint-trainer": "bench/checkpoint/trainer.ts",
      "checkpoint-upload-worker": "trainer-container/checkpoint/upload-worker.ts",
      "collective-rank": "bench/collective/rank.ts",
      "fuzz-monitor": "bench/fuzz/monitor.ts",
      "gpu-check-worker": "bench/gpu-check/worker.ts",
      "power-loss-workload": "test/support/power-loss/workload.ts",
      "promotions-client": "bench/promotions/client.ts",
      "train-worker": "bench/train/worker.ts",
    },
    external: ["@duckdb/*", "@tensorflow/*", "classic-level", "esbuild"],
    outdir: out,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    logLevel: "error",
  });
  // The benchmark stops what it has started when this process forwards a signal.
  const bench = spawn(process.execPath, [path.join(out, "main.js"), ...process.argv.slice(2)], {
    cwd: root,
    stdio: "inherit",
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => bench.kill(signal));
  bench.on("exit", (status) => {
    clean();
    process.exitCode = status ?? 1;
  });
} catch (error) {
  clean();
  throw error;
}
