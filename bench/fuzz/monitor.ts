import { appendFileSync, readFileSync } from "node:fs";

/**
 * Records when the event loop of the stack's process was blocked; `NODE_OPTIONS` loads it there. A gap between two ticks counts
 * for as long as the main thread was on a processor: the rest was used by other programs of the machine.
 */
const tickMs = 10;
/** Minimum length of a recorded block. */
const recordedMs = 50;

export interface Block {
  /** Milliseconds since the epoch. */
  readonly endedAt: number;
  readonly wallMs: number;
  /** CPU time of the main thread. */
  readonly cpuMs: number;
}

const file = process.env["RINGMASTER_FUZZ_BLOCKS"];
if (file !== undefined && process.argv[1]?.endsWith("stack.js")) {
  delete process.env["NODE_OPTIONS"];
  record(file);
}

function record(to: string): void {
  let last = performance.now();
  let lastCpu = mainThreadMs();
  setInterval(() => {
    const now = performance.now();
    const cpu = mainThreadMs();
    const block: Block = { endedAt: Date.now(), wallMs: now - last, cpuMs: cpu - lastCpu };
    if (Math.min(block.wallMs, block.cpuMs) > recordedMs) appendFileSync(to, `${JSON.stringify(block)}\n`);
    last = now;
    lastCpu = cpu;
  }, tickMs).unref();
}

/** Processor time of the main thread, which has the process's id (proc(5), `schedstat`). */
function mainThreadMs(): number {
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
}
