import { type ChildProcess, spawn } from "node:child_process";

/** The samples of one device since the previous reading. */
export interface GpuReading {
  /** Mean share of the time in which a kernel ran. */
  readonly utilization: number;
  /** Largest use of the device's memory, by all processes. */
  readonly memoryBytes: number;
}

/** Interval of nvidia-smi's samples. */
const sampleSeconds = 1;
/** A longer line is not nvidia-smi's. */
const maxLineLength = 200;
const maxMebibytes = 2 ** 24;

const pattern = /^\s*(\d{1,3})\s*,\s*(\d{1,8})\s*$/;

/** Samples a device by nvidia-smi in a process of its own. Without the command or values there are no readings. */
export class GpuSampler {
  private readonly child: ChildProcess;
  private rest = "";
  private count = 0;
  private percent = 0;
  private mebibytes = 0;

  /** @param device as in CUDA_VISIBLE_DEVICES */
  constructor(device: string) {
    const query = ["--query-gpu=utilization.gpu,memory.used", "--format=csv,noheader,nounits"];
    const child = spawn("nvidia-smi", [...query, "-i", device, "-l", String(sampleSeconds)], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    this.child = child;
    child.on("error", () => undefined); // there is no such command
    child.unref();
    const { stdout } = child;
    stdout?.setEncoding("utf8");
    stdout?.on("data", (text: string) => this.take(text));
    if (stdout && "unref" in stdout) (stdout as unknown as { unref(): void }).unref();
  }

  /** Returns a reading of the samples since the previous call; undefined if there were none. */
  read(): GpuReading | undefined {
    const { count, percent, mebibytes } = this;
    [this.count, this.percent, this.mebibytes] = [0, 0, 0];
    return count === 0 ? undefined : { utilization: percent / count / 100, memoryBytes: mebibytes * 2 ** 20 };
  }

  close(): void {
    this.child.kill("SIGKILL");
  }

  private take(text: string): void {
    const lines = (this.rest + text).split("\n");
    this.rest = (lines.pop() ?? "").slice(-maxLineLength - 1);
    for (const line of lines) this.takeLine(line);
  }

  private takeLine(line: string): void {
    const [, percent, mebibytes] = (line.length <= maxLineLength && pattern.exec(line)) || [];
    if (percent === undefined || Number(percent) > 100 || Number(mebibytes) > maxMebibytes) return;
    this.count += 1;
    this.percent += Number(percent);
    this.mebibytes = Math.max(this.mebibytes, Number(mebibytes));
  }
}
