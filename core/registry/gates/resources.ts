import type { LatencyReport } from "../../evaluation/latency";
import type { GateCheck } from "./verdict";
import { round } from "./wording";

/** p99 of single predictions, on the machine that evaluated. */
export function latencyGate(limit: number, latency: LatencyReport | undefined, lacking: string): GateCheck {
  if (!latency) {
    return { gate: "latency", metric: "p99Ms", value: null, limit, passed: false, evidence: `not timed: ${lacking}` };
  }
  const { p50Ms, p99Ms, predictions, machine } = latency;
  const passed = p99Ms <= limit;
  const evidence =
    `p99 of ${predictions} predictions of one row is ${round(p99Ms)} ms (p50 ${round(p50Ms)}) ` +
    `on ${machine.cpu}, ${machine.memoryMb} MB (${machine.host}); it must be at most ${limit}`;
  return { gate: "latency", metric: "p99Ms", value: p99Ms, limit, passed, evidence };
}

/** Bytes of all files that serving loads. */
export function sizeGate(limit: number, bytes: number | undefined, lacking: string): GateCheck {
  const passed = bytes !== undefined && bytes <= limit;
  const evidence =
    bytes === undefined
      ? `the artifact's size is not known: ${lacking}`
      : `the artifact has ${bytes} bytes; it must have at most ${limit}`;
  return { gate: "size", metric: "bytes", value: bytes ?? null, limit, passed, evidence };
}
