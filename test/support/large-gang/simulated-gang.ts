import { mulberry32 } from "../../../core/datasets/split";
import type { GangEnvironment, GangTimers } from "../../../trainer-container/gang/environment";
import { type Gang, type Generation, gangSignals } from "../../../trainer-container/gang/gang";
import { createGang } from "../../../trainer-container/gang/rendezvous-gang";
import { Partition, type StoreUse } from "./partition";
import { shuffle } from "./random";
import { SimulatedNetwork, type Topology } from "./simulated-network";
import { SimulatedTable } from "./simulated-store";
import { VirtualTime } from "./virtual-time";

export interface GangScenario {
  readonly workers: number;
  readonly microBatches: number;
  readonly topology: Topology;
  readonly seed: number;
}

export interface Formation {
  /** From the last start, or the loss, until all live members train in one generation; `undefined`: not within `patienceMs`. */
  readonly ms: number | undefined;
  readonly generations: number;
  readonly store: StoreUse;
}

interface Member {
  readonly gang: Gang;
  alive: boolean;
  port: number;
  generation: Generation | undefined;
}

/** Difference of the clocks of hosts in one region. */
const clockSkewMs = 5;
const epoch = 1_800_000_000_000;
const stepMs = 200;
const patienceMs = 20_000;

/** W members of the real `RendezvousGang` in virtual time, over one simulated partition and simulated sockets. */
export class SimulatedGang {
  readonly time = new VirtualTime();
  private readonly random: () => number;
  private readonly network: SimulatedNetwork;
  private readonly partition: Partition;
  private readonly members: Member[];
  private highest = 0;

  constructor(private readonly scenario: GangScenario) {
    this.random = mulberry32(scenario.seed);
    this.network = new SimulatedNetwork(this.time, scenario.topology);
    this.partition = new Partition(this.time, this.random);
    const table = new SimulatedTable(this.partition);
    this.members = Array.from({ length: scenario.workers }, (_, i) => this.member(i, table));
  }

  async form(): Promise<Formation> {
    const starts = this.members.map(() => this.random() * 1_000);
    this.members.forEach((member, i) => {
      this.time.after(starts[i]!, () => void this.train(member));
    });
    return this.settle(Math.max(...starts));
  }

  /** Trains for a short time, then kills this number of members at once. */
  async lose(count: number): Promise<Formation> {
    await this.time.run(() => false, this.time.now + 30_000);
    const victims = shuffle(
      this.members.filter((member) => member.alive),
      this.random,
    ).slice(0, count);
    this.partition.use();
    for (const victim of victims) {
      victim.alive = false;
      this.network.kill(victim.port);
    }
    return this.settle(this.time.now);
  }

  private async settle(from: number): Promise<Formation> {
    const before = this.highest;
    const live = this.members.filter((member) => member.alive);
    const whole = () =>
      live.every(({ generation }) => generation?.number === this.highest && generation.worldSize === live.length);
    const formed = await this.time.run(whole, this.time.now + patienceMs);
    return {
      ms: formed ? this.time.now - from : undefined,
      generations: this.highest - before,
      store: this.partition.use(),
    };
  }

  private member(index: number, table: SimulatedTable): Member {
    const listener = this.network.listen();
    const skew = (this.random() * 2 - 1) * clockSkewMs;
    const environment: GangEnvironment = {
      timers: whileAlive(this.time.timers(this.random), () => member.alive),
      listen: async () => listener as unknown as Awaited<ReturnType<GangEnvironment["listen"]>>,
      openMesh: async (options) =>
        (await this.network.openMesh(options)) as unknown as Awaited<ReturnType<GangEnvironment["openMesh"]>>,
      createHeartbeat: () => ({ start: () => {}, beat: () => {}, stop: () => {} }),
    };
    const gang = createGang({
      gangId: "run-01jd0c5xk3q8w2v7m4n6p9r1st",
      memberId: `7c9e6679-7425-40de-944b-e07fc1f90ae7:${index}/1`,
      workerIndex: index,
      expectedWorkers: this.scenario.workers,
      minWorkers: Math.max(1, Math.floor(this.scenario.workers / 2)),
      microBatches: this.scenario.microBatches,
      store: table.client(() => member.alive),
      clock: { now: () => epoch + Math.round(this.time.now + skew) },
      host: `10.0.${index >> 8}.${index & 255}`,
      environment,
    });
    const member: Member = { gang, alive: true, port: listener.port, generation: undefined };
    return member;
  }

  /** Runs the training loop without its work: steps until the generation is over, then the next one. */
  private async train(member: Member): Promise<void> {
    for (let steps = 0; member.alive; steps++) {
      const generation = await member.gang.enter(steps);
      if (!member.alive) return;
      member.generation = generation;
      this.highest = Math.max(this.highest, generation.number);
      await this.over(generation);
      member.generation = undefined;
    }
  }

  private over(generation: Generation): Promise<void> {
    const mesh = this.network.meshOf(generation.number, generation.rank);
    if (!mesh) return Promise.resolve();
    return new Promise((resolve) => {
      // A death leaves the promise open: that process does nothing afterwards.
      mesh.onLost = () => {
        stop();
        resolve();
      };
      const stop = this.time.every(stepMs, () => {
        if (generation.rank === 0 && joinerWaits(generation)) mesh.close();
      });
    });
  }
}

/** Stops the timers of a killed process; see also `SimulatedTable.client`. */
function whileAlive(timers: GangTimers, alive: () => boolean): GangTimers {
  const guarded = (run: () => void) => () => {
    if (alive()) run();
  };
  return {
    ...timers,
    after: (ms, run) => timers.after(ms, guarded(run)),
    every: (ms, run) => timers.every(ms, guarded(run)),
  };
}

/** The signal that rank 0 has raised by its check of the store for the next all-reduce. */
function joinerWaits(generation: Generation): boolean {
  const { raised = 0 } = generation as Generation & { readonly raised?: number };
  return (raised & gangSignals.joinerWaiting) !== 0;
}
