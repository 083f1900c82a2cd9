import { promises as fs } from "node:fs";
import path from "node:path";
import { deserialize, serialize } from "node:v8";
import { type BackoffTiming, backoffMs } from "../../core/backoff";
import { type MetricBatch, type MetricSink, MetricsRefusedError } from "../../core/tracking/metric-store";
import { within } from "./within";

/** Sends metrics to their store, in the order in which they were posted. */
export interface Sender {
  /** Takes a batch at once. Settles when it is stored, permanently refused, or lost, which the sender reports; never rejects. */
  post(batch: MetricBatch): Promise<void>;
  /** Resolves when all is sent, or after `patienceMs`. It does not try again after that. */
  close(patienceMs: number): Promise<void>;
}

interface SendQueueOptions {
  readonly sink: MetricSink;
  /** Directory for batches that exceed the memory while the sink is unavailable; used by this queue only. */
  readonly directory: string;
  readonly onRefused: (error: MetricsRefusedError) => void;
  /** Called once per outage, and again when more is lost. */
  readonly onTrouble: (message: string, error: unknown) => void;
  readonly sleep: (ms: number) => Promise<void>;
  /** In [0, 1). */
  readonly random: () => number;
}

const batchesInMemory = 32;
/** Almost three hours at a batch each half second. */
const batchesOnDisk = 20_000;
const pauses: BackoffTiming = { firstMs: 500, maxMs: 15_000, minShare: 0.5 };

/** Sends batches in order, one at a time. While the sink is unavailable they wait in memory, then on disk. */
export class SendQueue implements Sender {
  private readonly memory: MetricBatch[] = [];
  private spilledFirst = 0;
  private spilledEnd = 0;
  private spilling: Promise<void> = Promise.resolve();
  private sending: Promise<void> | undefined;
  private closed = false;
  /** Callbacks of the waiting batches, oldest first. */
  private readonly senders: (() => void)[] = [];

  constructor(private readonly options: SendQueueOptions) {}

  get length(): number {
    return this.memory.length + (this.spilledEnd - this.spilledFirst);
  }

  async post(batch: MetricBatch): Promise<void> {
    if (this.memory.length < batchesInMemory && this.spilledFirst === this.spilledEnd) this.memory.push(batch);
    else if (!this.spill(batch)) return;
    const gone = new Promise<void>((resolve) => this.senders.push(resolve));
    this.start();
    await gone;
  }

  async close(patienceMs: number): Promise<void> {
    if (this.sending) await within(patienceMs, this.sending);
    this.closed = true;
    await this.spilling;
    await fs.rm(this.options.directory, { recursive: true, force: true }).catch(() => undefined);
  }

  private start(): void {
    this.sending ??= this.drain().finally(() => {
      this.sending = undefined;
      if (this.length > 0 && !this.closed) this.start(); // posted after the last check
    });
  }

  private async drain(): Promise<void> {
    let failures = 0;
    for (let batch = await this.head(); batch !== undefined && !this.closed; batch = await this.head()) {
      try {
        await this.options.sink.send(batch);
        failures = 0;
      } catch (error) {
        if (!(error instanceof MetricsRefusedError)) {
          failures += 1;
          if (failures === 1) this.options.onTrouble("metrics cannot be sent; they wait", error);
          await this.options.sleep(backoffMs(failures - 1, pauses, this.options.random));
          continue;
        }
        this.options.onRefused(error);
      }
      this.memory.shift();
      this.senders.shift()?.();
    }
  }

  /** Returns the oldest batch. Memory has the oldest batches, and is filled from disk. */
  private async head(): Promise<MetricBatch | undefined> {
    while (this.memory.length === 0 && this.spilledFirst < this.spilledEnd) {
      await this.spilling;
      const file = this.fileOf(this.spilledFirst);
      const bytes = await fs.readFile(file).catch(() => undefined);
      await fs.rm(file, { force: true }).catch(() => undefined);
      this.spilledFirst += 1;
      if (bytes !== undefined) this.memory.push(deserialize(bytes) as MetricBatch);
      else this.senders.shift()?.(); // lost, and reported when it could not be written
    }
    return this.memory[0];
  }

  /** @returns whether there is room */
  private spill(batch: MetricBatch): boolean {
    if (this.spilledEnd - this.spilledFirst >= batchesOnDisk) {
      this.options.onTrouble("metrics are lost: the sink has been unavailable for too long", undefined);
      return false;
    }
    const file = this.fileOf(this.spilledEnd);
    this.spilledEnd += 1;
    this.spilling = this.spilling
      .then(() => fs.mkdir(this.options.directory, { recursive: true }))
      .then(() => fs.writeFile(file, serialize(batch)))
      .catch((error: unknown) => this.options.onTrouble("metrics are lost: they could not be kept on disk", error));
    return true;
  }

  private fileOf(index: number): string {
    return path.join(this.options.directory, `${index}.batch`);
  }
}
