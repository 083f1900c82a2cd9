import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { encodeHello, type Listener, localSocketPath } from "../../../trainer-container/collective/listener";
import {
  incarnationOf,
  makeLeaves,
  reduceAll,
  referenceSum,
  sameBits,
  startRankZero,
  startWorld,
  welcome,
} from "./support";

describe("a local socket's name", () => {
  it("is another for each incarnation and port, and tells neither", () => {
    const names = [
      { incarnation: "a1", port: 80 },
      { incarnation: "a2", port: 80 },
      { incarnation: "a1", port: 81 },
    ].map((worker) => localSocketPath(worker, "linux")!);
    for (const name of names) expect(name).toMatch(/^\0ringmaster-[0-9a-f]{32}$/);
    expect(new Set(names).size).toBe(3);
  });

  it("exists on Linux alone", () => expect(localSocketPath({ incarnation: "a1", port: 80 }, "darwin")).toBeUndefined());
});

const onLinux = process.platform === "linux" ? describe : describe.skip;

onLinux("ranks on one host", () => {
  /** Nothing listens at that address: a connection was made without TCP. */
  const members = (listeners: readonly Listener[]) =>
    listeners.map(({ port }, rank) => ({ host: "127.99.99.99", port, incarnation: incarnationOf(rank) }));

  it("need no TCP where they know each other's incarnations", async () => {
    const world = await startWorld(3, { local: true, members });
    for (const elements of [3, 300_001]) {
      const leaves = makeLeaves(8, elements);
      const expected = referenceSum(leaves);
      for (const { out } of await reduceAll(world, leaves)) expect(sameBits(out, expected)).toBe(true);
    }
    world.close();
  });

  it("go through whatever stands before a worker's port", async () => {
    const carried: number[] = [];
    const servers: Server[] = [];
    const world = await startWorld(2, {
      local: true,
      members: async (listeners) => {
        for (const [rank, { port }] of listeners.entries()) {
          const server = createServer((caller) => {
            carried.push(rank);
            const line = connect(port, "127.0.0.1");
            line.on("error", () => caller.destroy()).on("close", () => caller.destroy());
            caller.on("error", () => line.destroy()).on("close", () => line.destroy());
            caller.pipe(line).pipe(caller);
          });
          await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
          servers.push(server);
        }
        return servers.map((server, rank) => ({
          host: "127.0.0.1",
          port: (server.address() as AddressInfo).port,
          incarnation: incarnationOf(rank),
        }));
      },
    });
    const leaves = makeLeaves(8, 10_000);
    for (const { out } of await reduceAll(world, leaves)) expect(sameBits(out, referenceSum(leaves))).toBe(true);
    expect(carried.sort()).toEqual([0, 1]);
    world.close();
    for (const server of servers) server.close();
  });

  it("fall back to TCP, each connection by itself, where nobody listens under the name", async () => {
    const world = await startWorld(3, {
      local: true,
      members: (listeners) =>
        listeners.map(({ port }, rank) => ({
          host: "127.0.0.1",
          port,
          incarnation: rank === 0 ? incarnationOf(rank) : `elsewhere-${rank}`,
        })),
    });
    const leaves = makeLeaves(8, 10_000);
    for (const { out } of await reduceAll(world, leaves)) expect(sameBits(out, referenceSum(leaves))).toBe(true);
    world.close();
  });
});

onLinux("a listener's local socket", () => {
  it("asks for the generation's token, as the port does", async () => {
    const { listener, accepted, reasons } = await startRankZero({ incarnation: incarnationOf(0) });
    for (const token of ["guess", "secret"]) {
      const socket = connect({ path: localSocketPath({ incarnation: incarnationOf(0), port: listener.port })! });
      socket.write(encodeHello({ ...welcome, token }));
      await new Promise<void>((resolve) => socket.on("error", () => {}).on("close", () => resolve()));
    }
    expect(reasons).toEqual(["its token is not this generation's"]);
    expect(accepted.map(({ token }) => token)).toEqual(["secret"]);
    listener.close();
  });
});
