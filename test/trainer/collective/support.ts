import { Collective } from "../../../trainer-container/collective/collective";
import { GenerationLostError } from "../../../trainer-container/collective/errors";
import type { Heartbeat } from "../../../trainer-container/collective/heartbeat";
import { type Hello, Listener } from "../../../trainer-container/collective/listener";
import { Mesh, type MeshOptions } from "../../../trainer-container/collective/mesh";
import { type CollectiveTiming, defaultCollectiveTiming } from "../../../trainer-container/collective/timing";
import type { Algorithm } from "../../../trainer-container/reduction/halving";

export const noHeartbeat: Heartbeat = { beat: () => {}, stop: () => {} };

/** W ranks in this process, over loopback. */
export interface World {
  readonly ranks: readonly Collective[];
  readonly listeners: readonly Listener[];
  close(): void;
}

export interface WorldOptions {
  readonly microBatches?: number;
  readonly timing?: Partial<CollectiveTiming> | ((rank: number) => Partial<CollectiveTiming>);
  readonly chunkElements?: number;
  readonly heartbeat?: () => Heartbeat;
  /** Default: as the trainer chooses. */
  readonly algorithm?: Algorithm;
  readonly local?: boolean;
  /** Options of connections that do not use TCP alone. */
  readonly members?: (listeners: readonly Listener[]) => MeshOptions["members"] | Promise<MeshOptions["members"]>;
}

/** The process of a rank in a world with `local`. */
export const incarnationOf = (rank: number): string => `incarnation-${process.pid}-${rank}`;

export async function startListeners(count: number, patienceMs = 2_000, local = false): Promise<Listener[]> {
  return Promise.all(
    Array.from({ length: count }, (_, rank) =>
      Listener.start({ host: "127.0.0.1", patienceMs, ...(local ? { incarnation: incarnationOf(rank) } : {}) }),
    ),
  );
}

export function meshOptions(
  listeners: readonly Listener[],
  rank: number,
  overrides: Partial<MeshOptions> = {},
): MeshOptions {
  return {
    gangId: "gang-1",
    generation: 1,
    token: "secret",
    rank,
    microBatches: 8,
    members: listeners.map(({ port }) => ({ host: "127.0.0.1", port })),
    listener: listeners[rank]!,
    heartbeat: noHeartbeat,
    timing: defaultCollectiveTiming,
    now: () => performance.now(),
    ...overrides,
  };
}

export async function startWorld(worldSize: number, options: WorldOptions = {}): Promise<World> {
  const listeners = await startListeners(worldSize, 60_000, options.local);
  const { timing, algorithm } = options;
  const members = await options.members?.(listeners);
  const meshes = await Promise.all(
    listeners.map((_, rank) =>
      Mesh.open(
        meshOptions(listeners, rank, {
          microBatches: options.microBatches ?? 8,
          timing: { ...defaultCollectiveTiming, ...(typeof timing === "function" ? timing(rank) : timing) },
          heartbeat: options.heartbeat?.() ?? noHeartbeat,
          ...(members ? { members } : {}),
        }),
      ),
    ),
  );
  return {
    ranks: meshes.map((mesh) => new Collective(mesh, options.chunkElements, algorithm && (() => algorithm))),
    listeners,
    close: () => {
      for (const mesh of meshes) mesh.close();
      for (const listener of listeners) listener.close();
    },
  };
}

/** Leaves with values of very different sizes, so that any other order of additions shows in the bits. */
export function makeLeaves(microBatches: number, elements: number, seed = 1): Float32Array[] {
  const scales = Float64Array.from({ length: 24 }, (_, exponent) => 2 ** exponent);
  let state = seed >>> 0;
  return Array.from({ length: microBatches }, () => {
    const leaf = new Float32Array(elements);
    for (let i = 0; i < elements; i++) {
      state = (state * 69_069 + 12_345) % 4_294_967_296;
      leaf[i] = (state / 4_294_967_296 - 0.5) * scales[(state >>> 8) % 24]!;
    }
    return leaf;
  });
}

/** The canonical sum by its definition: every node, leaves included, is rounded. */
export function referenceSum(leaves: readonly Float32Array[], round = Math.fround): Float32Array {
  if (leaves.length === 1) return leaves[0]!.map(round);
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  const [left, right] = [referenceSum(leaves.slice(0, split), round), referenceSum(leaves.slice(split), round)];
  return left.map((value, i) => round(value + right[i]!));
}

export function sameBits(a: Float32Array, b: Float32Array): boolean {
  const bytes = (values: Float32Array) => Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  return bytes(a).equals(bytes(b));
}

const onHeap = (length: number): Float32Array => new Float32Array(length);

/** Copies of the leaves that this rank computes. */
export function leavesOf({ plan, mesh }: Collective, leaves: readonly Float32Array[], allocate = onHeap) {
  const { first, end } = plan.ranks[mesh.options.rank]!.leaves;
  return leaves.slice(first, end).map((leaf) => {
    const copy = allocate(leaf.length);
    copy.set(leaf);
    return copy;
  });
}

export async function reduceOn(
  collective: Collective,
  leaves: readonly Float32Array[],
  {
    finishedSteps = 0,
    signals = 0,
    allocate = onHeap,
  }: { finishedSteps?: number; signals?: number; allocate?: typeof onHeap } = {},
) {
  const local = leavesOf(collective, leaves, allocate);
  const out = allocate(leaves[0]!.length).fill(Number.NaN);
  return { out, ...(await collective.allReduce({ local, out, signals, finishedSteps })) };
}

export const reduceAll = (
  world: World,
  leaves: readonly Float32Array[],
  { signals, allocate }: { signals?: (rank: number) => number; allocate?: typeof onHeap | undefined } = {},
) =>
  Promise.all(
    world.ranks.map((collective, rank) =>
      reduceOn(collective, leaves, { signals: signals?.(rank) ?? 0, ...(allocate && { allocate }) }),
    ),
  );

/** As the kernel ends a killed process's connections: at once, without a farewell. */
export function kill(mesh: Mesh): void {
  for (const peer of mesh.others()) peer.close();
  mesh.abort(new GenerationLostError(1, undefined, "killed"));
}

export const bytesSent = (world: World): readonly number[] => world.ranks.map(({ mesh }) => mesh.bytesSent);

export const welcome: Hello = {
  kind: "data",
  gangId: "gang-1",
  generation: 1,
  from: 1,
  to: 0,
  token: "secret",
  microBatches: 8,
};

/** A listener of rank 0 of two, which closes what it accepts. */
export async function startRankZero(more: { readonly incarnation?: string } = {}) {
  const accepted: Hello[] = [];
  const reasons: string[] = [];
  const onRefused = (reason: string) => reasons.push(reason);
  const listener = await Listener.start({ host: "127.0.0.1", patienceMs: 1_000, onRefused, ...more });
  const accept = (hello: Hello, socket: { destroy(): unknown }) => {
    accepted.push(hello);
    socket.destroy();
  };
  listener.openFor({ ...welcome, rank: 0, worldSize: 2, accept });
  return { listener, accepted, reasons };
}
