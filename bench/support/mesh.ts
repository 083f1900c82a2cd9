import { ThreadHeartbeat } from "../../trainer-container/collective/heartbeat";
import type { Listener } from "../../trainer-container/collective/listener";
import { Mesh, type MeshOptions } from "../../trainer-container/collective/mesh";
import { defaultCollectiveTiming } from "../../trainer-container/collective/timing";

/** Connects a rank with all ranks of a gang on this machine. Without `more`, each rank has one micro-batch. */
export function openMesh(
  listener: Listener,
  rank: number,
  members: readonly Omit<MeshOptions["members"][number], "host">[],
  more: Partial<MeshOptions> = {},
): Promise<Mesh> {
  return Mesh.open({
    gangId: "bench",
    generation: 1,
    token: "bench",
    rank,
    microBatches: members.length,
    members: members.map((member) => ({ host: "127.0.0.1", ...member })),
    listener,
    heartbeat: new ThreadHeartbeat(),
    timing: defaultCollectiveTiming,
    now: () => performance.now(),
    ...more,
  });
}
