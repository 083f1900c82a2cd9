import type { GangTimers } from "../../../trainer-container/gang/environment";

interface Event {
  readonly at: number;
  readonly order: number;
  run: (() => void) | undefined;
}

/**
 * Virtual milliseconds. One event runs at a time. Code that waits for it by promises runs to its next wait before the clock moves
 * on, so the same seed gives the same run.
 */
export class VirtualTime {
  now = 0;
  private readonly heap: Event[] = [];
  private order = 0;

  after(ms: number, run: () => void): () => void {
    const event: Event = { at: this.now + Math.max(0, ms), order: this.order++, run };
    this.push(event);
    return () => {
      event.run = undefined;
    };
  }

  every(ms: number, run: () => void): () => void {
    let cancel = () => {};
    const again = () => {
      cancel = this.after(ms, () => {
        again();
        run();
      });
    };
    again();
    return () => cancel();
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(ms, resolve);
    });
  }

  timers(random: () => number): GangTimers {
    return {
      now: () => this.now,
      random,
      after: (ms, run) => this.after(ms, run),
      every: (ms, run) => this.every(ms, run),
    };
  }

  /** Runs events until `done` holds, none is left, or the limit of virtual time is reached. */
  async run(done: () => boolean, limitMs = Number.POSITIVE_INFINITY): Promise<boolean> {
    await settled();
    while (!done()) {
      const event = this.pop();
      if (!event || event.at > limitMs) return false;
      const { run } = event;
      if (!run) continue;
      event.run = undefined;
      this.now = event.at;
      run();
      await settled();
    }
    return true;
  }

  private push(event: Event): void {
    const { heap } = this;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!before(event, heap[parent]!)) break;
      heap[at]! = heap[parent]!;
      at = parent;
    }
    heap[at] = event;
  }

  private pop(): Event | undefined {
    const { heap } = this;
    const first = heap[0];
    const last = heap.pop();
    if (!first || !last || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++;
      if (!before(heap[child]!, last)) break;
      heap[at]! = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function before(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
