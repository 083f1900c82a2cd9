import fs from "node:fs";
import path from "node:path";
import { account } from "../account";
import type { EmittedEvent, EventSink } from "../service";
import { Journal } from "../storage/journal";
import { DamagedFileError } from "./damage";
import { flushDirectory } from "./directories";
import type { Disk } from "./disk";
import { readDocument, writeDocument } from "./documents";
import { toBinary } from "./keys";
import { findRecord, type ObjectRecord } from "./record";

export type ObjectEventType = "Object Created" | "Object Deleted";

export interface ObjectNotice {
  readonly type: ObjectEventType;
  readonly bucket: string;
  readonly key: string;
  readonly size?: number;
  readonly etag?: string;
  readonly reason: string;
  readonly requestId: string;
  readonly sourceAddress: string;
  /** The id of the write. A removal has none. */
  readonly writeId?: string;
}

/** The announcement of a change on disk. Its functions are called in the synchronous section of the change. */
export interface Announcement {
  /** Called before the change. From here on a kill does not lose the event. */
  before(): void;
  after(): void;
  /** Called instead of `after` if the change was not made. */
  cancel(): void;
}

/**
 * Makes a change and announces it. No request or other event comes between the change and its event. After a kill
 * between them, the journal contains the event.
 */
export function announced(announcement: Announcement, change: () => void): void {
  announcement.before();
  try {
    change();
  } catch (error) {
    announcement.cancel();
    throw error;
  }
  announcement.after();
}

interface Intent {
  readonly bucket: string;
  readonly key: string;
  readonly writeId?: string;
  readonly event: EmittedEvent;
}

/** The time until a refused event is published again. */
const retryMs = 1_000;

const silent: Announcement = { before: () => undefined, after: () => undefined, cancel: () => undefined };

/**
 * Sends S3's events to EventBridge, at least once, for the buckets that request them
 * (PutBucketNotificationConfiguration). The journal records an event before the object changes, and deletes it after
 * the bus has it on disk. If the process is killed in between, the next one checks whether the change was made and then
 * publishes the event.
 */
export class Notifications {
  private readonly disk: Disk;
  private readonly events: EventSink;
  private readonly now: () => number;
  private readonly journal: Journal<Intent>;
  private sequence = 0;
  private closed = false;

  constructor(disk: Disk, events: EventSink, now: () => number) {
    this.disk = disk;
    this.events = events;
    this.now = now;
    this.journal = new Journal(path.join(disk.root, "notifications.ndjson"));
  }

  recover(): void {
    const left = this.journal.recover();
    for (const intent of left) if (this.wasDone(intent)) this.events.put(intent.event);
    this.journal.routed(left.length);
  }

  isOn(bucket: string): boolean {
    return readDocument<{ readonly eventBridge: boolean }>(this.file(bucket), "eventBridge") !== undefined;
  }

  async configure(bucket: string, on: boolean): Promise<void> {
    const file = this.file(bucket);
    if (on) {
      const temporary = this.disk.temporary();
      await writeDocument(temporary, { eventBridge: true });
      fs.renameSync(temporary, file);
    } else fs.rmSync(file, { force: true });
    await flushDirectory(path.dirname(file));
  }

  announce(notice: ObjectNotice): Announcement {
    const { bucket, key, writeId } = notice;
    if (!this.isOn(bucket)) return silent;
    const event = this.eventOf(notice);
    if (this.events.matches?.(event) === false) return silent;
    return {
      before: () => this.journal.append([{ bucket, key, ...(writeId === undefined ? {} : { writeId }), event }]),
      after: () => this.publish(event),
      cancel: () => this.journal.routed(1),
    };
  }

  close(): void {
    this.closed = true;
    this.journal.close();
  }

  /** Publishes the event of a change. While the bus cannot store it, because the disk is full, it stays in the journal. */
  private publish(event: EmittedEvent): void {
    if (this.closed) return;
    try {
      this.events.put(event);
      this.journal.routed(1);
    } catch (error) {
      process.stderr.write(`s3: the event bus refused an event: ${error}\n`);
      setTimeout(() => this.publish(event), retryMs).unref();
    }
  }

  private wasDone({ bucket, key, writeId }: Intent): boolean {
    try {
      const record = findRecord<ObjectRecord>(this.disk.object(bucket, toBinary(key)));
      return record?.writeId === writeId;
    } catch (error) {
      if (error instanceof DamagedFileError) return true; // An extra event does less harm than a missing one.
      throw error;
    }
  }

  private eventOf({ type, bucket, key, size, etag, reason, requestId, sourceAddress }: ObjectNotice): EmittedEvent {
    // The later of two writes of a key has the greater sequence number.
    this.sequence = Math.max(this.sequence + 1, this.now() * 1000);
    const sequencer = this.sequence.toString(16).toUpperCase().padStart(16, "0");
    return {
      source: "aws.s3",
      detailType: type,
      resources: [`arn:aws:s3:::${bucket}`],
      detail: {
        version: "0",
        bucket: { name: bucket },
        object: { key, ...(size === undefined ? {} : { size }), ...(etag === undefined ? {} : { etag }), sequencer },
        "request-id": requestId,
        requester: account,
        "source-ip-address": sourceAddress,
        reason,
        ...(type === "Object Deleted" ? { "deletion-type": "Permanently Deleted" } : {}),
      },
    };
  }

  private file(bucket: string): string {
    return path.join(this.disk.bucket(bucket), "notification.json");
  }
}
