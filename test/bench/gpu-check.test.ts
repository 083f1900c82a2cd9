import { spawn } from "node:child_process";
import path from "node:path";
import { findBinding } from "../../trainer-container/engine/native-binding";

const root = path.resolve(__dirname, "../..");

function gpuCheck(args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  return new Promise<{ readonly code: number | null; readonly out: string; readonly error: string }>((resolve) => {
    const env = { ...process.env, RINGMASTER_PEERS_PYTHON: "/none", ...environment };
    const child = spawn(process.execPath, ["scripts/bench.js", "gpu-check", ...args], { cwd: root, env });
    let [out, error] = ["", ""];
    child.stdout.on("data", (text) => {
      out += text;
    });
    child.stderr.on("data", (text) => {
      error += text;
    });
    child.once("close", (code) => resolve({ code, out, error }));
  });
}

describe("gpu-check", () => {
  it("exits with 2 and says so where there is no GPU", async () => {
    const { code, error } = await gpuCheck([], { CUDA_VISIBLE_DEVICES: "-1" });
    expect(code).toBe(2);
    expect(error).toMatch(/^No GPU: nvidia-smi lists none, or CUDA_VISIBLE_DEVICES hides all\./);
  });

  it("refuses a batch that has no equal micro-batches", async () => {
    const { code, error } = await gpuCheck(["--batch", "12"]);
    expect(code).toBe(2);
    expect(error).toContain("--batch is '12', but must be a multiple of 8");
  });

  const nativeIt = findBinding("cpu") ? it : it.skip;

  nativeIt("checks bits, kill and resume, and measures each precision, tried on a CPU", async () => {
    const options = ["--models", "cnn", "--precisions", "float32,bfloat16", "--batch", "16", "--seconds", "0.05"];
    const { code, out } = await gpuCheck(["--device", "cpu", ...options]);
    const lines = out.split("\n");
    expect(lines.filter((line) => line.startsWith("ok"))).toEqual([
      "ok     CNN 8-16-64: the device is cpu",
      "ok     CNN 8-16-64: operations are deterministic",
      expect.stringMatching(/^ok {5}CNN 8-16-64: two processes give equal bits \([0-9a-f]{12}\)$/),
      expect.stringMatching(/^ok {5}CNN 8-16-64: killed, resumed from step [1-9]\d*, and the bits are the same$/),
    ]);
    expect(lines).toContain("       CNN 8-16-64: trained by the graph");
    expect(lines.filter((line) => line.startsWith("PyTorch skipped"))).toHaveLength(1);
    expect(
      lines.filter((line) => /^\| CNN 8-16-64 \| (float32|bfloat16) \| graph \| [\d,]+ \|/.test(line)),
    ).toHaveLength(2);
    expect(code).toBe(0);
  });
});
