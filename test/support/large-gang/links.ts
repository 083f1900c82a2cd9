import type { VirtualTime } from "./virtual-time";

/** One network interface and one thread per worker. */
export interface LinkModel {
  /** Latency of a message from one interface to another, in microseconds. */
  readonly latencyUs: number;
  /** Bandwidth of an interface in each direction. */
  readonly gigabitsPerSecond: number;
  /** Processor time of one message, on either side: system calls, wake-ups, framing. */
  readonly messageUs: number;
  readonly sendNsPerByte: number;
  readonly receiveNsPerByte: number;
}

/**
 * Two instances in one zone. The processor's part was measured for this code over loopback (docs/scale.md describes it). Latency
 * and bandwidth are those of a 25 Gbit/s interface.
 */
export const defaultLinks: LinkModel = {
  latencyUs: 30,
  gigabitsPerSecond: 25,
  messageUs: 8,
  sendNsPerByte: 0.2,
  receiveNsPerByte: 0.26,
};

class Resource {
  private freeAt = 0;

  use(from: number, ms: number): number {
    this.freeAt = Math.max(this.freeAt, from) + ms;
    return this.freeAt;
  }
}

interface Station {
  readonly cpu: Resource;
  readonly out: Resource;
  readonly in: Resource;
}

/** Messages between workers use in turn: the sender's processor, its interface, the link, the receiver's interface, its processor. */
export class Links {
  private readonly stations: readonly Station[];
  messages = 0;

  constructor(
    private readonly time: VirtualTime,
    workers: number,
    private readonly model: LinkModel,
    private readonly scale: number,
  ) {
    const station = (): Station => ({ cpu: new Resource(), out: new Resource(), in: new Resource() });
    this.stations = Array.from({ length: workers }, station);
  }

  /** Returns the number of bytes that a payload represents. */
  bytesFor(payload: number): number {
    return payload * this.scale;
  }

  /** @param taken called when the sender's interface has sent all of it */
  send(
    from: number,
    to: number,
    size: { readonly headers: number; readonly payload: number },
    taken: () => void,
    arrived: () => void,
  ): void {
    this.messages++;
    const { time, model } = this;
    const bytes = size.headers + this.bytesFor(size.payload);
    const wireMs = (bytes * 8) / (model.gigabitsPerSecond * 1e6);
    const cpuMs = (nsPerByte: number) => model.messageUs / 1e3 + (bytes * nsPerByte) / 1e6;
    const sent = this.stations[from]!.cpu.use(time.now, cpuMs(model.sendNsPerByte));
    this.at(sent, true, () => {
      const left = this.stations[from]!.out.use(time.now, wireMs);
      this.at(left, false, taken);
      this.at(left - wireMs + model.latencyUs / 1e3, true, () => {
        const received = this.stations[to]!.in.use(time.now, wireMs);
        this.at(received, true, () => {
          this.at(this.stations[to]!.cpu.use(time.now, cpuMs(model.receiveNsPerByte)), false, arrived);
        });
      });
    });
  }

  private at(when: number, quiet: boolean, run: () => void): void {
    this.time.after(when - this.time.now, run, quiet);
  }
}
