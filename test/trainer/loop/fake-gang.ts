import { GenerationLostError } from "../../../trainer-container/collective/errors";
import { type Gang, type GangMember, type Generation, gangSignals } from "../../../trainer-container/gang/gang";
import { type Add, add as addFloats } from "../../../trainer-container/kernels/add";
import { canonicalAdditions, leafRange } from "../../../trainer-container/reduction/plan";
import { FakeOperations, type OperationFault } from "./fake-operations";

interface Waiting {
  readonly id: string;
  readonly finishedSteps: number;
  resolve(generation: Generation): void;
}

/** The effect of a fault at an all-reduce that all ranks have reached. */
export interface Fault {
  readonly kill: string;
  /** Members that got the sum before the loss; the others must do the step again. */
  readonly delivered?: readonly string[];
}

/**
 * A gang within one process, for tests of the loop: seals a generation when every live member has entered, sums in the
 * canonical order, and loses members on request.
 */
export class FakeGang {
  private readonly live: Set<string>;
  private waiting: Waiting[] = [];
  private round: Round | undefined;
  private generations = 0;
  /** By finished steps, at the all-reduce of the step that follows; each happens once. */
  readonly faults = new Map<number, Fault>();
  /** By the number of a sharded step's operation, counted over all generations from 1; each happens once. */
  readonly operationFaults = new Map<number, OperationFault>();
  private operations = 0;
  /** Generations that are sealed without a member, though it lives and comes back. */
  readonly late = new Map<string, number>();
  private readonly tardy: Waiting[] = [];

  constructor(
    private readonly microBatches: number,
    members: readonly string[],
  ) {
    this.live = new Set(members);
  }

  get generationCount(): number {
    return this.generations;
  }

  get operationCount(): number {
    return this.operations;
  }

  nextOperation(): OperationFault | undefined {
    this.operations += 1;
    return this.operationFaults.get(this.operations);
  }

  join(id: string): Gang {
    this.live.add(id);
    return this.member(id);
  }

  kill(id: string): void {
    this.live.delete(id);
    this.waiting = this.waiting.filter((waiting) => waiting.id !== id);
    if (this.round?.order.includes(id)) this.round.lose(id);
    this.sealWhenComplete();
  }

  /**
   * Plans losses at steps, of at most all members but one.
   *
   * @param losses step, victim, and the number of survivors that have that step's sum already
   * @returns the members that will be lost
   */
  plan(ids: readonly string[], losses: readonly (readonly [number, number, number])[]): ReadonlySet<string> {
    const doomed = new Set<string>();
    for (const [step, victim, luckyCount] of losses) {
      const kill = ids[victim % ids.length]!;
      if (this.faults.has(step) || doomed.size === ids.length - 1 || doomed.has(kill)) continue;
      doomed.add(kill);
      this.faults.set(step, { kill, delivered: ids.filter((id) => id !== kill).slice(0, luckyCount) });
    }
    return doomed;
  }

  member(id: string): Gang {
    return {
      memberId: id,
      enter: (finishedSteps) =>
        new Promise((resolve) => {
          if (!this.live.has(id)) return; // a killed process asks for nothing any more
          if (this.late.has(id)) this.live.delete(id);
          (this.late.has(id) ? this.tardy : this.waiting).push({ id, finishedSteps, resolve });
          this.sealWhenComplete();
        }),
      leave: async () => this.kill(id),
    };
  }

  lives(id: string): boolean {
    return this.live.has(id);
  }

  /** Whether a member waits outside a generation that is under way. */
  joinerWaiting(): boolean {
    return this.waiting.length > 0;
  }

  private sealWhenComplete(): void {
    if (this.waiting.length === 0 || this.waiting.length !== this.live.size) return;
    const members = [...this.waiting].sort((a, b) => (a.id < b.id ? -1 : 1));
    this.waiting = [];
    this.generations += 1;
    this.round = new Round(this, this.microBatches, this.generations, members);
    members.forEach((waiting, rank) => {
      waiting.resolve(this.round!.generation(rank));
    });
    for (const waiting of this.tardy.splice(0)) {
      const missed = (this.late.get(waiting.id) ?? 0) - 1;
      this.late.set(waiting.id, missed);
      if (missed > 0) {
        this.tardy.push(waiting);
        continue;
      }
      this.late.delete(waiting.id);
      this.live.add(waiting.id);
      this.waiting.push(waiting);
    }
  }
}

interface Contribution {
  readonly local: readonly Float32Array[];
  readonly out: Float32Array;
  readonly signals: number;
  readonly add: Add;
  resolve(signals: number): void;
  reject(error: Error): void;
}

class Round {
  readonly order: readonly string[];
  private readonly members: readonly GangMember[];
  private readonly contributions = new Map<number, Contribution>();
  private readonly states = new Map<number, readonly Float32Array[]>();
  private readonly stateWaiters: (() => void)[] = [];
  private lost: GenerationLostError | undefined;
  private readonly operations: FakeOperations;

  constructor(
    private readonly gang: FakeGang,
    private readonly microBatches: number,
    private readonly number: number,
    entered: readonly { readonly id: string; readonly finishedSteps: number }[],
  ) {
    this.order = entered.map(({ id }) => id);
    this.members = entered.map(({ id, finishedSteps }, rank) => ({
      memberId: id,
      rank,
      workerIndex: rank,
      host: "127.0.0.1",
      port: 0,
      pid: process.pid,
      finishedSteps,
    }));
    let fault: OperationFault | undefined;
    this.operations = new FakeOperations(
      microBatches,
      entered.length,
      () => {
        fault = gang.nextOperation();
        return fault && ((rank) => fault!.delivered.includes(this.order[rank]!));
      },
      () => {
        for (const id of fault!.kill) gang.kill(id);
        this.end(new GenerationLostError(number, undefined, "the network failed"));
      },
      () => (gang.joinerWaiting() ? gangSignals.joinerWaiting : 0),
    );
  }

  private end(error: GenerationLostError): void {
    this.lost ??= error;
    this.operations.lose(this.lost);
  }

  lose(id: string, except: readonly string[] = []): void {
    this.lost ??= new GenerationLostError(this.number, this.order.indexOf(id), `${id} was killed`);
    for (const [rank, contribution] of this.contributions) {
      if (!except.includes(this.order[rank]!)) contribution.reject(this.lost);
    }
    this.contributions.clear();
    for (const wake of this.stateWaiters.splice(0)) wake();
    this.operations.lose(this.lost);
  }

  generation(rank: number): Generation {
    const worldSize = this.order.length;
    const lost = () => this.lost;
    return {
      number: this.number,
      rank,
      worldSize,
      members: this.members,
      leaves: leafRange(this.microBatches, worldSize, rank),
      allReduce: (local, out, signals, finishedSteps, add = addFloats) =>
        new Promise((resolve, reject) => {
          if (this.lost) return reject(this.lost);
          this.contributions.set(rank, { local, out, signals, add, resolve, reject });
          if (this.contributions.size === worldSize) this.reduce(finishedSteps);
        }),
      synchronize: (state, finishedSteps) => this.synchronize(rank, state, finishedSteps),
      reduceScatter: async (input) => {
        if (this.lost) throw this.lost;
        return this.operations.enter(rank, { kind: "reduce-scatter", input });
      },
      exchange: async (input) => {
        if (this.lost) throw this.lost;
        await this.operations.enter(rank, { kind: "exchange", input });
      },
      get lost() {
        return lost();
      },
      departed: (other) => !this.gang.lives(this.order[other]!),
      traffic: { bytesSent: 0, waitMs: 0 },
      close: () => undefined,
    };
  }

  private reduce(finishedSteps: number): void {
    const all = [...this.contributions].sort(([a], [b]) => a - b).map(([, contribution]) => contribution);
    const slots = all.flatMap(({ local }) => local.map((leaf) => leaf.slice()));
    // A gang of one may have added up its leaves already.
    for (const { into, from } of canonicalAdditions(all.length === 1 ? slots.length : this.microBatches)) {
      const target = slots[into]!;
      all[0]!.add(target, 0, target, 0, slots[from]!, 0, target.length, 0);
    }
    const joining = this.gang.joinerWaiting() ? gangSignals.joinerWaiting : 0;
    const signals = all.reduce((bits, contribution) => bits | contribution.signals, joining);
    const fault = this.gang.faults.get(finishedSteps);
    const delivered = fault === undefined ? this.order : (fault.delivered ?? []);
    all.forEach((contribution, rank) => {
      if (!delivered.includes(this.order[rank]!)) return;
      contribution.out.set(slots[0]!);
      contribution.resolve(signals);
    });
    if (fault !== undefined) {
      this.gang.faults.delete(finishedSteps);
      this.lose(fault.kill, delivered);
      this.gang.kill(fault.kill);
    } else this.contributions.clear();
  }

  private async synchronize(rank: number, state: readonly Float32Array[], finishedSteps: number): Promise<number> {
    const furthest = Math.max(...this.members.map((member) => member.finishedSteps));
    if (this.members.every((member) => member.finishedSteps === furthest)) return finishedSteps;
    this.states.set(rank, state);
    if (this.states.size === this.order.length) for (const wake of this.stateWaiters.splice(0)) wake();
    else await new Promise<void>((resolve) => this.stateWaiters.push(resolve));
    if (this.lost) throw this.lost;
    const source = this.states.get(this.members.findIndex((member) => member.finishedSteps === furthest))!;
    if (finishedSteps === furthest) return furthest;
    state.forEach((buffer, index) => {
      buffer.set(source[index]!);
    });
    return furthest;
  }
}
