import type { LatencyReport } from "../../evaluation/latency";
import type { GateCheck } from "./verdict";
import { compared, shownNumber } from "./wording";

/** Limits the p99 of single predictions, on the machine that evaluated. */
export function latencyGate(limit: number, latency: LatencyReport | undefined, lacking: string): GateCheck {
  if (!latency) {
    return {
      gate: "latency",
      metric: "p99Ms",
      value: null,
      limit,
      passed: false,
      evidence: `latency was not measured: ${lacking}`,
    };
  }
  const { p50Ms, p99Ms, predictions, machine } = latency;
  const passed = p99Ms <= limit;
  const evidence =
    `p99 latency ${compared(p99Ms, passed ? "≤" : ">", limit)} ms; ${predictions} single-row predictions, ` +
    `p50 ${shownNumber(p50Ms)} ms, on ${machine.cpu}, ${machine.memoryMb} MB (${machine.host})`;
  return { gate: "latency", metric: "p99Ms", value: p99Ms, limit, passed, evidence };
}

/** Limits the bytes of all files that serving loads. */
export function sizeGate(limit: number, bytes: number | undefined, lacking: string): GateCheck {
  const passed = bytes !== undefined && bytes <= limit;
  const evidence =
    bytes === undefined
      ? `the artifact's size is not known: ${lacking}`
      : `artifact size ${bytes} ${passed ? "≤" : ">"} ${limit} bytes`;
  return { gate: "size", metric: "bytes", value: bytes ?? null, limit, passed, evidence };
}
