import type { Transport } from "./gangs";

export interface Times {
  /** Median of one all-reduce on its slowest rank. */
  readonly micros: number;
  /** Median over rounds of a rank's CPU time for one all-reduce. */
  readonly cpuMicros: number;
}

export interface Line extends Times {
  readonly worldSize: number;
  readonly transport: Transport;
  readonly bytes: number;
  readonly peer: Times | undefined;
  /** Bytes written by the rank with the most, over 2(W−1)/W · S. */
  readonly wireOverBound: number;
}

const columns = [
  "ranks",
  "size",
  "sockets",
  "ours",
  "Gloo (TCP)",
  "ours GB/s",
  "Gloo GB/s",
  "bandwidth ×",
  "latency ×",
  "CPU ours",
  "CPU Gloo",
  "wire ÷ bound",
];

/** Renders Markdown. Algorithm bandwidth: bytes of the vector by time. */
export function renderTable(lines: readonly Line[]): string {
  const rows = lines.map(({ worldSize, transport, bytes, micros, cpuMicros, peer, wireOverBound }) => [
    String(worldSize),
    sizeText(bytes),
    transport === "tcp" ? "TCP" : "local",
    timeText(micros),
    peer ? timeText(peer.micros) : "–",
    bandwidthText(bytes, micros),
    peer ? bandwidthText(bytes, peer.micros) : "–",
    peer ? (peer.micros / micros).toFixed(2) : "–",
    peer ? (micros / peer.micros).toFixed(2) : "–",
    timeText(cpuMicros),
    peer ? timeText(peer.cpuMicros) : "–",
    wireOverBound.toFixed(4),
  ]);
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(columns), line(columns.map(() => "--:")), ...rows.map(line)].join("\n");
}

function sizeText(bytes: number): string {
  if (bytes >= 100_000_000) return `${bytes / 1_000_000} MB`;
  return bytes >= 2 ** 20 ? `${bytes / 2 ** 20} MiB` : `${bytes / 1024} KiB`;
}

function timeText(micros: number): string {
  return micros >= 1_000 ? `${(micros / 1_000).toPrecision(3)} ms` : `${micros.toPrecision(3)} µs`;
}

function bandwidthText(bytes: number, micros: number): string {
  return (bytes / micros / 1_000).toPrecision(3);
}
