import { connect } from "node:net";
import { encodeHello, type Hello } from "../../../trainer-container/collective/hello";
import { Listener } from "../../../trainer-container/collective/listener";
import { localSocketPath } from "../../../trainer-container/collective/local-socket";
import { GenerationLostError } from "../../../trainer-container/gang/gang";
import { incarnationOf, makeLeaves, reduceAll, referenceSum, sameBits, startListeners, startWorld } from "./support";

describe("a local socket's name", () => {
  it("is another for each incarnation, and does not tell it", () => {
    const [one, two] = ["a1", "a2"].map((incarnation) => localSocketPath(incarnation, "linux")!);
    expect(one).toMatch(/^\0ringmaster-[0-9a-f]{32}$/);
    expect(one).not.toBe(two);
  });

  it("exists on Linux alone", () => expect(localSocketPath("a1", "darwin")).toBeUndefined());
});

const onLinux = process.platform === "linux" ? describe : describe.skip;

onLinux("ranks on one host", () => {
  /** Nobody listens there: whoever connects did so without TCP. */
  const unreachable = { host: "127.0.0.1", port: 1 };

  it("need no TCP where they know each other's incarnations", async () => {
    const members = () => [0, 1, 2].map((rank) => ({ ...unreachable, incarnation: incarnationOf(rank) }));
    const world = await startWorld(3, { local: true, members });
    for (const elements of [3, 300_001]) {
      const leaves = makeLeaves(8, elements);
      const expected = referenceSum(leaves);
      for (const { out } of await reduceAll(world, leaves)) expect(sameBits(out, expected)).toBe(true);
    }
    world.close();
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

  it("name the one that is lost", async () => {
    const members = () => [0, 1, 2].map((rank) => ({ ...unreachable, incarnation: incarnationOf(rank) }));
    const world = await startWorld(3, { local: true, members, chunkElements: 1_000 });
    const leaves = makeLeaves(8, 300_000);
    const outcomes = [0, 1].map((rank) => {
      const { first, end } = world.ranks[rank].plan.ranks[rank].leaves;
      const out = new Float32Array(300_000);
      return world.ranks[rank].allReduce({ local: leaves.slice(first, end), out, signals: 0, finishedSteps: 0 });
    });
    setImmediate(() => {
      for (const peer of world.ranks[2].mesh.others()) peer.close();
    });
    for (const outcome of await Promise.allSettled(outcomes)) {
      expect(outcome).toMatchObject({ status: "rejected", reason: { rank: 2 } });
      expect(outcome.status === "rejected" && outcome.reason).toBeInstanceOf(GenerationLostError);
    }
    world.close();
  });
});

onLinux("a listener's local socket", () => {
  const hello: Hello = {
    kind: "data",
    gangId: "gang-1",
    generation: 1,
    from: 1,
    to: 0,
    token: "secret",
    microshards: 8,
  };

  it("asks for the generation's token, as the port does", async () => {
    const reasons: string[] = [];
    const listener = await Listener.start({
      host: "127.0.0.1",
      patienceMs: 1_000,
      incarnation: incarnationOf(0),
      onRefused: (reason) => reasons.push(reason),
    });
    const accepted: string[] = [];
    listener.openFor({
      ...hello,
      rank: 0,
      worldSize: 2,
      accept: ({ token }, socket) => {
        accepted.push(token);
        socket.destroy();
      },
    });
    for (const token of ["guess", "secret"]) {
      const socket = connect({ path: localSocketPath(incarnationOf(0))! });
      socket.write(encodeHello({ ...hello, token }));
      await new Promise<void>((resolve) => socket.on("error", () => {}).on("close", () => resolve()));
    }
    expect(reasons).toEqual(["its token is not this generation's"]);
    expect(accepted).toEqual(["secret"]);
    listener.close();
  });

  it("is done without where its name is taken", async () => {
    const [first] = await startListeners(1, 1_000, true);
    const [second] = await startListeners(1, 1_000, true);
    expect(second.port).not.toBe(first.port);
    first.close();
    second.close();
  });
});
