import { logNormal } from "./random";
import type { VirtualTime } from "./virtual-time";

/** DynamoDB's limit for one partition, in units per second. */
const readUnits = 3_000;
const writeUnits = 1_000;
const readUnitBytes = 4_096;
const writeUnitBytes = 1_024;

const attempts = 3;
const throttleDelayMs = 500;

const medianLatencyMs = 5;
const latencySpread = 0.35;
const msPerKiB = 0.03;

export interface StoreUse {
  readonly calls: number;
  readonly readUnits: number;
  readonly writeUnits: number;
  readonly throttles: number;
  readonly peakReadUnits: number;
  readonly peakWriteUnits: number;
}

class Bucket {
  private tokens: number;
  private filledAt = 0;
  total = 0;
  private second = -1;
  private inSecond = 0;
  peak = 0;

  constructor(private readonly rate: number) {
    this.tokens = rate;
  }

  forget(): void {
    this.total = 0;
    this.peak = 0;
    this.inSecond = 0;
  }

  take(units: number, now: number): boolean {
    this.tokens = Math.min(this.rate, this.tokens + ((now - this.filledAt) / 1_000) * this.rate);
    this.filledAt = now;
    if (this.tokens <= 0) return false;
    this.tokens -= units;
    this.total += units;
    const second = Math.floor(now / 1_000);
    if (second !== this.second) this.inSecond = 0;
    this.second = second;
    this.inSecond += units;
    this.peak = Math.max(this.peak, this.inSecond);
    return true;
  }
}

export class Partition {
  private reads = new Bucket(readUnits);
  private writes = new Bucket(writeUnits);
  private calls = 0;
  private throttles = 0;

  constructor(
    private readonly time: VirtualTime,
    private readonly random: () => number,
  ) {}

  /** @param measure returns the bytes of all items that it touches, at the time of completion */
  read<T>(consistent: boolean, measure: () => number, run: () => T): Promise<T> {
    return this.call((now) => {
      const bytes = measure();
      const units = Math.max(1, Math.ceil(bytes / readUnitBytes)) * (consistent ? 1 : 0.5);
      return this.reads.take(units, now) ? { value: run(), bytes } : undefined;
    });
  }

  /** @param run the conditional write, which is charged even if its condition fails */
  write<T>(bytes: number, run: () => Promise<T>): Promise<T> {
    return this.call((now) =>
      this.writes.take(Math.max(1, Math.ceil(bytes / writeUnitBytes)), now) ? { value: run(), bytes: 0 } : undefined,
    );
  }

  use(): StoreUse {
    const { calls, throttles, reads, writes } = this;
    const use = {
      calls,
      throttles,
      readUnits: Math.round(reads.total),
      writeUnits: writes.total,
      peakReadUnits: Math.round(reads.peak),
      peakWriteUnits: writes.peak,
    };
    this.calls = 0;
    this.throttles = 0;
    reads.forget();
    writes.forget();
    return use;
  }

  private async call<T>(
    attempt: (now: number) => { readonly value: T | Promise<T>; readonly bytes: number } | undefined,
  ): Promise<T> {
    this.calls++;
    for (let failures = 0; ; ) {
      const latency = logNormal(this.random, medianLatencyMs, latencySpread);
      await this.time.sleep(latency / 2);
      const done = attempt(this.time.now);
      const answer = done && (await done.value);
      await this.time.sleep(latency / 2 + (done ? (done.bytes / 1_024) * msPerKiB : 0));
      if (done) return answer as T;
      this.throttles++;
      if (++failures === attempts) {
        throw Object.assign(new Error("the partition's throughput is exceeded"), { name: "ThrottlingException" });
      }
      await this.time.sleep(this.random() * Math.min(20_000, throttleDelayMs * 2 ** (failures - 1)));
    }
  }
}
