import { readFileSync } from "node:fs";
import os from "node:os";

/** Instruction sets by which numerical libraries choose kernels. */
const relevant = /^(sse4_[12]|avx\w*|fma|f16c|amx_\w+|bmi2|asimd\w*|sve\w*|bf16|i8mm)$/;

interface CpuDescription {
  readonly model: string;
  readonly features: readonly string[];
}

/** Returns the CPU's model and the relevant instruction sets. These are empty if the system does not list them (macOS). */
export function describeCpu(): CpuDescription {
  const model = os.cpus()[0]?.model.trim() ?? "unknown";
  return { model, features: readFeatures() };
}

function readFeatures(): readonly string[] {
  let text: string;
  try {
    text = readFileSync("/proc/cpuinfo", "utf8");
  } catch {
    return []; // not Linux
  }
  const line = /^(?:flags|Features)\s*:(.*)$/m.exec(text)?.[1] ?? "";
  return line
    .split(/\s+/)
    .filter((flag) => relevant.test(flag))
    .sort();
}
