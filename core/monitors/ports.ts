import type { Page } from "../datasets/repository";
import type { Severity } from "../drift/shapes";
import type { Monitor, MonitorWindow } from "./shapes";

interface PageQuery {
  readonly limit: number;
  readonly nextToken?: string | undefined;
}

/** The port to a team's monitors and their windows; docs/access-patterns.md, "Drift". */
export interface MonitorRepository {
  /**
   * Writes a monitor's next revision; returns false if the stored revision is not that of `before` (`undefined`: none
   * was stored).
   */
  save(monitor: Monitor, before: Monitor | undefined): Promise<boolean>;
  /** Returns the monitor, also if it is deleted: its windows stay. */
  find(name: string): Promise<Monitor | undefined>;
  list(query: PageQuery): Promise<Page<Monitor>>;
  ofModel(model: string): Promise<readonly Monitor[]>;
  /** Writes a window and the revision of the monitor that has it, both or none; returns false like `save`. */
  closeWindow(monitor: Monitor, before: Monitor, window: MonitorWindow): Promise<boolean>;
  /** Records that a window's event was published. Idempotent. */
  markPublished(name: string, window: number): Promise<void>;
  findWindow(name: string, window: number): Promise<MonitorWindow | undefined>;
  listWindows(name: string, query: PageQuery): Promise<Page<MonitorWindow>>;
}

/** The monitors of all teams that the sweep visits. Listings are eventually consistent. */
export interface MonitorIndex {
  monitors(): Promise<readonly { readonly team: string; readonly monitor: string }[]>;
  /** Lists windows with drift whose event may not have been published. */
  unpublished(): Promise<readonly { readonly team: string; readonly monitor: string; readonly window: number }[]>;
}

export interface DriftEvent {
  readonly at: string;
  readonly team: string;
  readonly monitor: string;
  readonly window: number;
  readonly windowEnd: string;
  readonly severity: Severity;
  readonly drifted: readonly string[];
}

export interface MonitorDue {
  readonly at: string;
  readonly team: string;
  readonly monitor: string;
}

/** The port to EventBridge. */
export interface MonitorEvents {
  /** Resolves when the event was accepted. */
  publishDrift(event: DriftEvent): Promise<void>;
  publishMonitorDue(event: MonitorDue): Promise<void>;
}
