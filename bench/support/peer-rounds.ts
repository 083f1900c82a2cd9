import { median } from "./median";
import { markdownTable } from "./table";

/** The times of one round. */
export interface Round {
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** Largest resident memory, where it is measured. */
  readonly peakMiB?: number;
}

/** The rounds of the product and of a peer, and the reason if there is no peer. */
export interface PeerRounds<Own extends Round, Peer extends Round> {
  readonly own: readonly Own[];
  readonly peers: readonly Peer[];
  readonly reason?: string;
}

/** Measures the product and a peer in alternation. @param peer returns a text if it cannot run */
export async function alternate<Own extends Round, Peer extends Round>(
  rounds: number,
  own: () => Promise<Own> | Own,
  peer: (own: Own) => Promise<Peer | string> | Peer | string,
): Promise<PeerRounds<Own, Peer>> {
  const found: { readonly own: Own[]; readonly peers: Peer[]; reason?: string } = { own: [], peers: [] };
  for (let round = 0; round < rounds; round += 1) {
    const mine = await own();
    found.own.push(mine);
    const theirs = await peer(mine);
    if (typeof theirs === "string") found.reason = theirs;
    else found.peers.push(theirs);
  }
  return found;
}

/** Renders medians of both, and the ratio of their seconds. */
export function comparison({ own, peers }: PeerRounds<Round, Round>, peer: string): string {
  const middle = (all: readonly Round[], of: "seconds" | "cpuSeconds") => median(all.map((round) => round[of]));
  const withPeak = own.some(({ peakMiB }) => peakMiB !== undefined);
  const row = (name: string, all: readonly Round[]) => [
    ...[name, middle(all, "seconds").toFixed(2), middle(all, "cpuSeconds").toFixed(2)],
    ...(withPeak ? [Math.max(...all.map(({ peakMiB = 0 }) => peakMiB)).toFixed(0)] : []),
    peers.length === 0 ? "–" : (middle(all, "seconds") / middle(peers, "seconds")).toFixed(2),
  ];
  return markdownTable(
    ["", "seconds", "processor seconds", ...(withPeak ? ["peak MiB"] : []), `× ${peer}`],
    [row("ringmaster", own), ...(peers.length === 0 ? [] : [row(peer, peers)])],
  );
}
