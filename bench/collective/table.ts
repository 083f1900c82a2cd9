/** One size on one world. */
export interface Line {
  readonly worldSize: number;
  readonly bytes: number;
  /** Median of one all-reduce on its slowest rank. */
  readonly micros: number;
  readonly peerMicros: number | undefined;
  /** Bytes written by the rank that wrote most, over 2(W−1)/W · S. */
  readonly wireOverBound: number;
}

const columns = ["ranks", "size", "ours", "Gloo", "ours GB/s", "Gloo GB/s", "bandwidth ×", "latency ×", "wire ÷ bound"];

/** Markdown. Algorithm bandwidth: bytes of the vector by time. */
export function renderTable(lines: readonly Line[]): string {
  const rows = lines.map(({ worldSize, bytes, micros, peerMicros, wireOverBound }) => [
    String(worldSize),
    sizeText(bytes),
    timeText(micros),
    peerMicros === undefined ? "–" : timeText(peerMicros),
    bandwidthText(bytes, micros),
    peerMicros === undefined ? "–" : bandwidthText(bytes, peerMicros),
    peerMicros === undefined ? "–" : (peerMicros / micros).toFixed(2),
    peerMicros === undefined ? "–" : (micros / peerMicros).toFixed(2),
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
