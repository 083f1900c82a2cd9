import { decide, decideFromHead, type GangLimits, monitor } from "../../../trainer-container/gang/decide";
import { stateSource } from "../../../trainer-container/gang/gang";
import type { GangHead, GangRecords, MemberState } from "../../../trainer-container/gang/store";
import { defaultRendezvousTiming as timing, wholeLookMs } from "../../../trainer-container/gang/timing";
import { MemoryGangStore } from "../../support/memory-gang-store";

type Phase = "register" | "read" | "act" | "connect" | "train";

interface Process {
  readonly memberId: string;
  readonly workerIndex: number;
  incarnation: number;
  registration: number;
  registeredAt: number;
  renewedAt: number;
  past: number;
  finishedSteps: number;
  phase: Phase;
  up: boolean;
  stopped: boolean;
  records: GangRecords | undefined;
  /** The records are those of its own item and the head alone. */
  headReads: boolean;
  wholeLookAt: number;
  head: GangHead | undefined;
  connectingSince: number;
}

const gangId = "gang";

/**
 * The gang protocol with everything around it played by the test: processes that crash, stop and return, a clock, and sockets
 * reduced to "is that process in that generation?". Each `step` is one atomic action of one process, so that any two processes
 * interleave between a look at the store and the write that follows from it.
 */
export class GangSimulation {
  readonly store = new MemoryGangStore();
  readonly processes: Process[];
  /** Every list ever sealed, by number. */
  readonly sealed = new Map<number, GangHead[]>();
  /** `generation` in which a process finished its steps, in order. */
  readonly finishedIn = new Map<string, number[]>();
  /** The list (by its token) under which each step was finished, in order of time. */
  readonly finishedUnder: string[] = [];
  readonly enteredBy = new Map<string, number[]>();
  now = 1_000_000;
  private lists = 0;

  constructor(
    count: number,
    readonly limits: GangLimits,
    /** As in large gangs, members look at the whole gang in turns, and read only the head in between. */
    readonly isLarge = false,
  ) {
    this.processes = Array.from({ length: count }, (_, i) => ({
      memberId: `worker-${i}`,
      workerIndex: i,
      incarnation: 0,
      registration: 1,
      registeredAt: this.now,
      renewedAt: 0,
      past: 0,
      finishedSteps: 0,
      phase: "register",
      up: true,
      stopped: false,
      records: undefined,
      headReads: false,
      wholeLookAt: 0,
      head: undefined,
      connectingSince: 0,
    }));
  }

  crash(index: number): void {
    this.processes[index]!.up = false;
  }

  restart(index: number): void {
    const process = this.processes[index]!;
    if (process.up) return;
    Object.assign(process, { up: true, stopped: false, past: 0, finishedSteps: 0, phase: "register", registration: 1 });
    process.incarnation++;
    process.registeredAt = this.now;
  }

  async rounds(times: number): Promise<void> {
    for (let round = 0; round < times; round++) {
      for (const index of this.processes.keys()) await this.step(index);
      this.now += 50;
    }
  }

  async step(index: number): Promise<void> {
    const me = this.processes[index]!;
    if (!me.up || me.stopped) return;
    if (me.phase !== "register" && this.now - me.renewedAt >= timing.renewMs) {
      me.renewedAt = this.now;
      await this.store.renew(gangId, this.keyOf(me), this.now + timing.leaseMs);
    }
    if (me.phase === "register") {
      me.registeredAt = this.now;
      await this.write(me, "waiting");
      me.phase = "read";
    } else if (me.phase === "read") {
      me.headReads = this.isLarge && this.now < me.wholeLookAt;
      me.records = await (me.headReads ? this.store.readHead(gangId, me.memberId) : this.store.read(gangId));
      // Places far apart, so that turns differ: half a second for the first two, then 2 s and 8 s.
      if (!me.headReads) me.wholeLookAt = this.now + wholeLookMs(me.workerIndex * 3, 1_000);
      me.phase = "act";
    } else if (me.phase === "act") {
      await this.act(me);
    } else if (me.phase === "connect") {
      await this.connect(me);
    } else {
      await this.train(me, index);
    }
  }

  /** Processes that train in the present generation, all of them connected. */
  async settled(): Promise<readonly Process[]> {
    const { head } = await this.store.read(gangId);
    const inside = this.processes.filter((p) => p.up && p.phase === "train" && p.head?.number === head?.number);
    return inside.length === head?.members.length ? inside : [];
  }

  private async act(me: Process): Promise<void> {
    me.phase = "read";
    const self = { ...this.keyOf(me), past: me.past };
    const decision = me.headReads
      ? decideFromHead(me.records!, self, timing, this.now)
      : decide(me.records!, self, this.limits, timing, this.now);
    if (decision.kind === "register") {
      me.past = Math.max(me.past, me.records!.head?.number ?? 0);
      this.registerAgain(me);
    } else if (decision.kind === "seal") {
      const { number, members } = decision;
      const head = { number, members, token: `list-${++this.lists}`, completed: false, sealedAt: this.now };
      if (await this.store.seal(gangId, head)) this.sealed.set(number, [...(this.sealed.get(number) ?? []), head]);
    } else if (decision.kind === "enter") {
      me.head = decision.head;
      me.registration = decision.head.members[decision.rank]!.registration;
      const registration = Object.values(this.keyOf(me)).join("/");
      this.enteredBy.set(registration, [...(this.enteredBy.get(registration) ?? []), decision.head.number]);
      await this.write(me, "training");
      me.phase = "connect";
      me.connectingSince = this.now;
    } else if (decision.kind !== "wait") {
      throw new Error(`unexpected decision: ${decision.kind}`);
    }
  }

  private async connect(me: Process): Promise<void> {
    const missing = this.absent(me.head!);
    const dead = missing.filter((memberId) => !this.processes.find((p) => p.memberId === memberId)!.up);
    if (missing.length === 0) me.phase = "train";
    else if (dead.length > 0) await this.lose(me, dead[0]);
    else if (this.now - me.connectingSince > 5_000) await this.lose(me, missing[0]);
  }

  /** One optimizer step, as soon as all members of the generation are at it; the smallest index plays it for all. */
  private async train(me: Process, index: number): Promise<void> {
    const missing = this.absent(me.head!);
    if (missing.length > 0) return this.lose(me, missing[0]);
    const records = await this.store.read(gangId);
    const seen = monitor(records, me.head!.number, this.limits, timing, this.now);
    const members = me.head!.members.map(({ memberId }) => this.processes.find((p) => p.memberId === memberId)!);
    if (members.some((p) => p.phase !== "train" || p.stopped)) return;
    if (this.processes.indexOf(members[0]!) !== index) return;
    if (seen === "superseded") return this.lose(me, undefined);
    this.finishedUnder.push(me.head!.token);
    const { finishedSteps } = stateSource(members.map((p) => p.finishedSteps));
    for (const member of members) {
      member.finishedSteps = finishedSteps + 1;
      this.finishedIn.set(member.memberId, [...(this.finishedIn.get(member.memberId) ?? []), me.head!.number]);
    }
    if (seen === "joiner") for (const member of members) await this.lose(member, undefined);
  }

  private async lose(me: Process, culprit: string | undefined): Promise<void> {
    const lost = me.head!.members.find(({ memberId }) => memberId === culprit);
    const process = this.processes.find(({ memberId }) => memberId === culprit);
    // One that left in order has said so by its sockets; it is not blamed.
    if (lost && (!process?.up || process.stopped)) await this.store.reportLost(gangId, lost);
    me.past = me.head!.number;
    this.registerAgain(me);
  }

  private registerAgain(me: Process): void {
    me.registration++;
    me.phase = "register";
  }

  private absent(head: GangHead): readonly string[] {
    return head.members
      .map(({ memberId }) => memberId)
      .filter((memberId) => {
        const process = this.processes.find((p) => p.memberId === memberId)!;
        const inside = process.phase === "connect" || process.phase === "train";
        return !process.up || process.head?.number !== head.number || !inside;
      });
  }

  private keyOf(me: Process) {
    return { memberId: me.memberId, incarnation: `${me.incarnation}`, registration: me.registration };
  }

  private async write(me: Process, state: MemberState): Promise<void> {
    me.renewedAt = this.now;
    await this.store.register(gangId, {
      ...this.keyOf(me),
      state,
      generation: me.head?.number ?? 0,
      workerIndex: me.workerIndex,
      host: "127.0.0.1",
      port: 1,
      pid: 1,
      finishedSteps: me.finishedSteps,
      registeredAt: me.registeredAt,
      leaseExpiresAt: this.now + timing.leaseMs,
      accused: false,
    });
  }
}
