/** What the stack and the host process of a container tell each other. */
import type { LogLine } from "../log-appender";

export interface StartMessage {
  readonly type: "start";
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly workingDirectory?: string;
  readonly instance: InstanceMetadata;
}

/** What the instance metadata service answers, but for the instance's id, which is known when the container runs. */
export interface InstanceMetadata {
  readonly instanceType: string;
  readonly lifeCycle: "spot" | "on-demand";
  readonly region: string;
  readonly account: string;
}

export type StackMessage =
  | StartMessage
  /** SIGTERM goes to the main process, as `docker stop` does; SIGKILL to all that it started. */
  | { readonly type: "signal"; readonly signal: "SIGTERM" | "SIGKILL" }
  /** A spot interruption is due at `time` (ISO 8601). */
  | { readonly type: "interrupt"; readonly time: string };

export type HostMessage =
  | { readonly type: "started"; readonly pid: number }
  | { readonly type: "start-error"; readonly message: string }
  | { readonly type: "lines"; readonly lines: readonly LogLine[] }
  /** As Docker counts it: 128 + n after signal n. */
  | { readonly type: "exit"; readonly exitCode: number };
