import type { ParameterSlot } from "../engine/engine";
import type { Replica } from "../loop/replica";
import type { Snapshot, SnapshotSpace } from "./snapshot";
import { stateBuffers } from "./state";
import { type StateFiles, stateFiles } from "./state-files";
import type { CheckpointHeader } from "./writer";

/** Maximum wait of steps for an upload from the live state, if no file could take a copy. Then the checkpoint is abandoned. */
const uploadPatienceMs = 60_000;

/** The state of one step boundary, until it is stored or superseded. */
export interface StateCopy {
  readonly header: CheckpointHeader;
  readonly files: StateFiles;
  readonly live: readonly Float32Array[];
  readonly snapshot: Snapshot;
  /** Settles when the copy is no longer needed. */
  readonly ended: Promise<void>;
  readonly end: () => void;
  /** The live state may change: it is copied, or the copy was abandoned. */
  writable: boolean;
  /** The live state changed before it was copied or stored. */
  spoilt: boolean;
  /** Milliseconds that training was blocked. */
  blockedMs: number;
  waitingSince: number | undefined;
}

export interface StateCopiesOptions {
  readonly layout: readonly ParameterSlot[];
  readonly space: SnapshotSpace;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  /** Settles after that many milliseconds. */
  readonly sleep: (ms: number) => Promise<unknown>;
  /** Called if no file could take a copy of the state: the next step waits for the upload. */
  readonly onNotKept: (error: unknown, finishedSteps: number) => void;
}

/** Copies the state, and delays steps while a copy still needs the live buffers. */
export class StateCopies {
  private unwritable: readonly StateCopy[] = [];

  constructor(private readonly options: StateCopiesOptions) {}

  bytesOf(replica: Replica): number {
    return stateBuffers(replica, this.options.layout).reduce((bytes, { values }) => bytes + values.byteLength, 0);
  }

  take(replica: Replica, header: CheckpointHeader): StateCopy {
    const { layout, space, now, onNotKept } = this.options;
    const began = now();
    const buffers = stateBuffers(replica, layout);
    const live = buffers.map(({ values }) => values);
    const snapshot = space.take(live);
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const copy: StateCopy = {
      header: {
        ...header,
        epochScore: replica.epochScore.slice(),
        ...(header.bestEpoch ? { bestEpoch: header.bestEpoch.slice() } : {}),
      },
      files: stateFiles(buffers, layout),
      live,
      snapshot,
      ended,
      end,
      writable: false,
      spoilt: false,
      blockedMs: now() - began,
      waitingSince: undefined,
    };
    this.unwritable = [...this.unwritable, copy];
    void snapshot.kept.then((frozen) => {
      if (frozen) this.allowWrites(copy);
      else onNotKept(snapshot.trouble(), header.finishedSteps);
    });
    return copy;
  }

  /** The copy no longer needs the live buffers. */
  allowWrites(copy: StateCopy): void {
    copy.writable = true;
    this.unwritable = this.unwritable.filter((other) => other !== copy);
  }

  /** Releases the copy's memory and file. */
  release(copy: StateCopy): void {
    this.allowWrites(copy);
    copy.snapshot.release();
    copy.end();
  }

  /** Returns the milliseconds for which the copy blocked training, including the current wait. */
  blockedMs({ blockedMs, waitingSince }: StateCopy): number {
    return blockedMs + (waitingSince === undefined ? 0 : this.options.now() - waitingSince);
  }

  /** Settles once the live buffers may change. Never rejects. */
  writable(): Promise<void> | undefined {
    return this.unwritable.length === 0 ? undefined : this.hold(this.unwritable);
  }

  /** Waits until the copies are made, or until those that cannot be made are uploaded. */
  private async hold(copies: readonly StateCopy[]): Promise<void> {
    const { now, sleep } = this.options;
    for (const copy of copies) {
      const began = now();
      copy.waitingSince = began;
      const frozen = await copy.snapshot.kept;
      if (!frozen && !copy.writable) await Promise.race([copy.ended, sleep(uploadPatienceMs)]);
      if (!frozen && !copy.writable) copy.spoilt = true;
      this.allowWrites(copy);
      copy.waitingSince = undefined;
      copy.blockedMs += now() - began;
    }
  }
}
