import { connect, type Socket } from "node:net";
import { GenerationLostError } from "../../../trainer-container/collective/errors";
import { ThreadHeartbeat } from "../../../trainer-container/collective/heartbeat";
import { encodeHello, type Hello } from "../../../trainer-container/collective/listener";
import { Mesh } from "../../../trainer-container/collective/mesh";
import { defaultCollectiveTiming } from "../../../trainer-container/collective/timing";
import {
  kill,
  makeLeaves,
  meshOptions,
  reduceAll,
  reduceOn,
  referenceSum,
  sameBits,
  startListeners,
  startRankZero,
  startWorld,
  welcome,
} from "./support";

const lost = async (promise: Promise<unknown>): Promise<GenerationLostError> => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(GenerationLostError);
  return error as GenerationLostError;
};

const ended = (socket: Socket) => new Promise<void>((resolve) => socket.on("error", () => {}).on("close", resolve));

describe("a hello", () => {
  it.each<[string, Partial<Hello> | string]>([
    ["another gang", { gangId: "gang-2" }],
    ["an earlier generation", { generation: 0 }],
    ["a wrong token", { token: "guess" }],
    ["a rank that is not this one", { to: 1 }],
    ["a rank outside the world", { from: 2 }],
    ["this very rank", { from: 0 }],
    ["another number of micro-batches", { microBatches: 4 }],
    ["no JSON", "GET / HTTP/1.1\n"],
    ["a line without end", "x".repeat(5_000)],
  ])("of %s is refused", async (_, change) => {
    const { listener, accepted, reasons } = await startRankZero();
    const socket = connect(listener.port, "127.0.0.1");
    socket.write(typeof change === "string" ? change : encodeHello({ ...welcome, ...change }));
    await ended(socket);
    expect(accepted).toEqual([]);
    expect(reasons).toHaveLength(1);
    listener.close();
  });

  it("of a generation to come waits for it, and says so", async () => {
    const [listener] = await startListeners(1);
    const ahead = new Promise<number>((resolve) => {
      listener!.onAhead = resolve;
    });
    const socket = connect(listener!.port, "127.0.0.1");
    socket.write(encodeHello({ ...welcome, generation: 7 }));
    expect(await ahead).toBe(7);
    const from = await new Promise<number>((resolve) => {
      listener!.openFor({ ...welcome, generation: 7, rank: 0, worldSize: 2, accept: (hello) => resolve(hello.from) });
    });
    expect(from).toBe(1);
    socket.destroy();
    listener!.close();
  });
});

describe("connecting", () => {
  it("names a rank that is not there", async () => {
    const listeners = await startListeners(2);
    listeners[1]!.close();
    const error = await lost(Mesh.open(meshOptions(listeners.slice(0, 1), 0, twoMembers(listeners[0]!.port, 1))));
    expect(error.rank).toBe(1);
    listeners[0]!.close();
  });

  it("names a rank that takes the connection and then says nothing", async () => {
    const listeners = await startListeners(2, 60_000);
    const timing = { ...defaultCollectiveTiming, connectMs: 100 };
    const error = await lost(Mesh.open(meshOptions(listeners, 0, { timing })));
    expect(error).toMatchObject({ rank: 1, message: expect.stringContaining("not connected within 100 ms") });
    for (const listener of listeners) listener.close();
  });

  const twoMembers = (own: number, other: number) => ({
    members: [own, other].map((port) => ({ host: "127.0.0.1", port })),
  });
});

describe("a lost peer", () => {
  it("in the middle of a transfer fails the sum on every other rank, by name", async () => {
    const world = await startWorld(3, { chunkElements: 1_000 });
    const leaves = makeLeaves(8, 300_000);
    const outcomes = world.ranks.map((collective) => lost(reduceOn(collective, leaves)));
    setImmediate(() => kill(world.ranks[2]!.mesh));
    const errors = await Promise.all(outcomes);
    expect(errors.slice(0, 2).map(({ rank }) => rank)).toEqual([2, 2]);
    world.close();
  });

  it("that had sent all it owed does not undo the step", async () => {
    const world = await startWorld(2);
    const leaves = makeLeaves(8, 100);
    const results = await reduceAll(world, leaves);
    kill(world.ranks[1]!.mesh);
    expect(results.every(({ out }) => sameBits(out, referenceSum(leaves)))).toBe(true);
    const error = await lost(reduceOn(world.ranks[0]!, makeLeaves(8, 1), { finishedSteps: 1 }));
    expect(error.rank).toBe(1);
    world.close();
  });

  it("is not blamed when it leaves at a step boundary", async () => {
    const world = await startWorld(2);
    world.ranks[1]!.mesh.close();
    const error = await lost(reduceOn(world.ranks[0]!, makeLeaves(8, 1)));
    expect(error).toMatchObject({ rank: undefined, message: expect.stringContaining("left at a step boundary") });
    world.close();
  });
});

describe("a silent peer", () => {
  it("is lost after the deadline", async () => {
    // Only rank 0 is quick: neither rank sends heartbeats here, and the first to notice closes its connections.
    const world = await startWorld(2, { timing: (rank) => (rank === 0 ? { silenceMs: 200 } : {}) });
    const error = await lost(reduceOn(world.ranks[0]!, makeLeaves(8, 10)));
    expect(error).toMatchObject({ rank: 1, message: expect.stringContaining("silent for") });
    world.close();
  });

  it("is waited for while its heartbeat thread shows that it computes", async () => {
    const heartbeats: ThreadHeartbeat[] = [];
    const heartbeat = () => {
      const made = new ThreadHeartbeat();
      heartbeats.push(made);
      return made;
    };
    const silenceMs = 600; // a busy machine may hold up a thread for a while
    const world = await startWorld(2, { timing: { silenceMs }, heartbeat });
    const [first, second] = world.ranks.map((collective) => () => reduceOn(collective, makeLeaves(8, 10)));
    const early = first!();
    await new Promise((resolve) => setTimeout(resolve, 2 * silenceMs));
    await expect(Promise.all([early, second!()])).resolves.toHaveLength(2);
    world.close();
    for (const each of heartbeats) each.stop();
  });

  it("that lives but never comes to the step is lost after the longer deadline", async () => {
    const heartbeats = [new ThreadHeartbeat(), new ThreadHeartbeat()];
    let next = 0;
    const world = await startWorld(2, { timing: { progressMs: 300 }, heartbeat: () => heartbeats[next++]! });
    const error = await lost(reduceOn(world.ranks[0]!, makeLeaves(8, 10)));
    expect(error).toMatchObject({ rank: 1, message: expect.stringContaining("sent nothing of this step") });
    world.close();
    for (const each of heartbeats) each.stop();
  });
});
