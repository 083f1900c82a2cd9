import { Collective } from "../../../trainer-container/collective/collective";
import type { Algorithm } from "../../../trainer-container/reduction/halving";
import { LinkMesh } from "./link-mesh";
import { type LinkModel, Links } from "./links";
import { VirtualTime } from "./virtual-time";

/** The size of the trainer's frames: 128 Ki elements. */
const chunkElements = 128 * 1024;
const maxElements = 16 * 1024;
/** Longer vectors are summed in one part, like the shortest (`halving-doubling.ts`). Scaled down, they must not fall in between. */
const longElements = 4 * 1024 * 1024;

export interface SumScenario {
  readonly worldSize: number;
  readonly microBatches: number;
  readonly elements: number;
  readonly algorithm: Algorithm;
  readonly links: LinkModel;
}

export interface SimulatedSum {
  /** Time until the slowest rank has its result. */
  readonly ms: number;
  readonly messages: number;
  readonly results: readonly Float32Array[];
}

/** Runs one all-reduce of the real operations over simulated links. All ranks begin at the same time. */
export async function simulateSum(
  { worldSize, microBatches, elements, algorithm, links: model }: SumScenario,
  leaf: (index: number, elements: number) => Float32Array = (_, length) => new Float32Array(length),
): Promise<SimulatedSum> {
  const most = elements > longElements ? maxElements - 1 : maxElements;
  const scale = Math.max(1, elements / most);
  const length = Math.round(elements / scale);
  const time = new VirtualTime();
  const links = new Links(time, worldSize, model, scale);
  const meshes = LinkMesh.world(worldSize, microBatches, time, links);
  let done = 0;
  let ms = 0;
  const results = meshes.map((mesh) => {
    const collective = new Collective(mesh, Math.max(1, Math.round(chunkElements / scale)), () => algorithm);
    const { first, end } = collective.plan.ranks[mesh.options.rank]!.leaves;
    const local = Array.from({ length: end - first }, (_, i) => leaf(first + i, length));
    const out = new Float32Array(length);
    const sum = collective.allReduce({ local, out, signals: 0, finishedSteps: 0 });
    sum.then(() => {
      done++;
      ms = Math.max(ms, time.now);
    });
    return { out, sum };
  });
  await time.run(() => done === worldSize);
  await Promise.all(results.map(({ sum }) => sum));
  return { ms, messages: links.messages, results: results.map(({ out }) => out) };
}
