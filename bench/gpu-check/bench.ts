import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Precision } from "../../core/runs/hyperparameters";
import { listGpus } from "../../local/batch/gpus";
import { findBinding } from "../../trainer-container/engine/native-binding";
import { type GpuReading, GpuSampler } from "../../trainer-container/telemetry/gpu-sampler";
import { LineProcess } from "../support/line-process";
import { describeMachine, machineLine } from "../support/machine";
import { findTorch, type PeerPython } from "../support/peer-python";
import { markdownTable } from "../support/table";
import { startTorch } from "../train/gangs";
import type { BenchModel } from "../train/modules";
import { type GpuCheckOptions, parseGpuCheckOptions } from "./options";
import type { CheckReady, CheckResult, CheckSetup, CheckTask } from "./protocol";

const steps = 40;
const warmUpSteps = 10;
const noGpuExitCode = 2;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

class Worker {
  private readonly child: LineProcess;

  constructor(setup: CheckSetup) {
    const script = join(__dirname, "gpu-check-worker.js");
    this.child = new LineProcess(process.execPath, [script, JSON.stringify(setup)]);
  }

  ready = (): Promise<CheckReady> => this.child.receive();
  begin = (task: CheckTask): void => this.child.send(task);
  result = (): Promise<CheckResult> => this.child.receive();
  kill = (): void => this.child.kill();

  run(task: CheckTask): Promise<CheckResult> {
    this.begin(task);
    return this.result();
  }
}

async function runOnce(setup: CheckSetup) {
  const worker = new Worker(setup);
  try {
    const { numerics, finishedSteps } = await worker.ready();
    return { numerics, finishedSteps, ...(await worker.run({ steps: steps - finishedSteps, digest: true })) };
  } finally {
    worker.kill();
  }
}

/** Kills a process after its first checkpoint. @returns the finished steps of the checkpoint, and the end after it */
async function killAndResume(setup: CheckSetup) {
  const folder = mkdtempSync(join(tmpdir(), "ringmaster-gpu-check-"));
  const state = join(folder, "state");
  try {
    const first = new Worker({ ...setup, state });
    await first.ready();
    first.begin({ steps, digest: false });
    while (!existsSync(state)) await sleep(5);
    first.kill();
    return await runOnce({ ...setup, state });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(setup: CheckSetup, gpu: string | undefined, seconds: number) {
  const worker = new Worker(setup);
  const sampler = gpu === undefined ? undefined : new GpuSampler(gpu);
  try {
    await worker.ready();
    await worker.run({ steps: warmUpSteps, digest: false });
    const trial = await worker.run({ steps: warmUpSteps, digest: false });
    const count = Math.max(1, Math.ceil((seconds * warmUpSteps) / trial.seconds));
    sampler?.read();
    const result = await worker.run({ steps: count, digest: false });
    const samplesPerSecond = (count * setup.batchSize) / result.seconds;
    return { samplesPerSecond, engine: result.engine, reading: sampler?.read() };
  } finally {
    worker.kill();
    sampler?.close();
  }
}

/** @returns PyTorch's samples per second, or the reason why there are none */
async function measureTorch(
  model: BenchModel,
  precision: Precision,
  { batchSize, seconds, device }: GpuCheckOptions,
  python: PeerPython,
): Promise<number | string> {
  const setup = { model, batchSize, backend: "native", microBatches: 1, torch: "eager", precision } as const;
  const gang = await startTorch(1, { ...setup, device: device === "gpu" ? "cuda" : "cpu" }, python);
  try {
    await gang.measure({ steps: warmUpSteps });
    const trial = await gang.measure({ steps: warmUpSteps });
    const count = Math.max(1, Math.ceil((seconds * warmUpSteps) / trial.seconds));
    return (count * batchSize) / (await gang.measure({ steps: count })).seconds;
  } catch (error) {
    return (error as Error).message;
  } finally {
    gang.close();
  }
}

/** Returns the Python whose PyTorch can use the device, or the reason for none. */
function torchFor(device: GpuCheckOptions["device"]): PeerPython | string {
  const torch = findTorch();
  if (typeof torch === "string" || device === "cpu") return torch;
  const { status } = spawnSync(torch.python, ["-c", "import torch; assert torch.cuda.is_available()"]);
  return status === 0 ? torch : `PyTorch ${torch.torch} of ${torch.python} finds no CUDA device`;
}

const count = (value: number): string => Math.round(value).toLocaleString("en");
const columns = [
  "model",
  "precision",
  "trained by",
  "samples/s",
  "GPU utilization",
  "GPU memory, MiB",
  "PyTorch, samples/s",
  "÷ PyTorch",
];

function cellsOf(
  label: string,
  precision: Precision,
  ours: { readonly samplesPerSecond: number; readonly engine: string; readonly reading?: GpuReading | undefined },
  peer: number | undefined,
): readonly string[] {
  const { samplesPerSecond, engine, reading } = ours;
  return [
    label,
    precision,
    engine,
    count(samplesPerSecond),
    reading ? `${Math.round(100 * reading.utilization)} %` : "–",
    reading ? count(reading.memoryBytes / 2 ** 20) : "–",
    peer === undefined ? "–" : count(peer),
    peer === undefined ? "–" : (samplesPerSecond / peer).toFixed(2),
  ];
}

async function checkBits(options: GpuCheckOptions): Promise<number> {
  let failures = 0;
  const report = (passed: boolean, what: string): void => {
    say(`${passed ? "ok    " : "FAILED"} ${what}`);
    if (!passed) failures += 1;
  };
  const { device, models, batchSize } = options;
  for (const [label, model] of Object.entries(models)) {
    const setup = { model, batchSize, microBatches: 8, precision: "float32", device } as const;
    const [one, other] = [await runOnce(setup), await runOnce(setup)];
    const { numerics, engine } = one;
    report(numerics.device === device, `${label}: the device is ${numerics.gpu?.model ?? numerics.device}`);
    report(numerics.switches["deterministicOps"] === "on", `${label}: operations are deterministic`);
    say(`       ${label}: trained by the ${engine}`);
    report(one.digest === other.digest, `${label}: two processes give equal bits (${one.digest?.slice(0, 12)})`);
    const resumed = await killAndResume(setup);
    const equal = resumed.finishedSteps > 0 && resumed.digest === one.digest;
    report(equal, `${label}: killed, resumed from step ${resumed.finishedSteps}, and the bits are the same`);
  }
  return failures;
}

export async function benchGpuCheck(args: readonly string[]): Promise<void> {
  const options = parseGpuCheckOptions(args);
  const { device, models, precisions, batchSize, seconds } = options;
  const [gpu] = device === "gpu" ? listGpus() : [];
  if (device === "gpu" && gpu === undefined) {
    process.stderr.write(
      "No GPU: nvidia-smi lists none, or CUDA_VISIBLE_DEVICES hides all. gpu-check needs a machine with an NVIDIA GPU " +
        "and its driver. --device cpu tries the check itself.\n",
    );
    process.exitCode = noGpuExitCode;
    return;
  }
  // All processes inherit it, PyTorch's too: CUDA numbers devices in another order than nvidia-smi.
  if (gpu !== undefined) process.env["CUDA_VISIBLE_DEVICES"] = gpu;
  if (device === "gpu" && findBinding("gpu") === undefined) {
    const install = spawnSync(process.execPath, ["bin/ringmaster.js", "native", "--library", "gpu"], {
      stdio: "inherit",
    });
    if (install.status !== 0) throw new Error("TensorFlow's GPU library is not installed; see the message above");
  }
  say(machineLine(describeMachine()));
  const failures = await checkBits(options);
  const torch = torchFor(device);
  say(typeof torch === "string" ? `PyTorch skipped: ${torch}` : `PyTorch ${torch.torch}, eager, fused Adam`);
  const rows: (readonly string[])[] = [];
  for (const [label, model] of Object.entries(models)) {
    for (const precision of precisions) {
      const ours = await measure({ model, batchSize, microBatches: 1, precision, device }, gpu, seconds);
      const peer = typeof torch === "string" ? undefined : await measureTorch(model, precision, options, torch);
      if (typeof peer === "string") say(`PyTorch skipped for ${label}, ${precision}: ${peer}`);
      rows.push(cellsOf(label, precision, ours, typeof peer === "number" ? peer : undefined));
    }
  }
  say(`\nbatch ${batchSize}, one process\n\n${markdownTable(columns, rows)}`);
  if (failures > 0) {
    say(`\n${failures} checks failed`);
    process.exitCode = 1;
  }
}
