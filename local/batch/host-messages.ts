import type { LogLine } from "../service";

export interface StartMessage {
  readonly type: "start";
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly workingDirectory?: string;
  readonly machine: Machine;
  /** The directory of the files with which the host describes itself to the container. */
  readonly hostDirectory: string;
  /** Time of a spot interruption (ISO 8601) that was announced before the container starts. */
  readonly interruption?: string;
}

/** The host's machine, without the instance's id, which is known only when the container runs. */
export interface Machine {
  readonly instanceType: string;
  readonly availabilityZone: string;
}

export type StackMessage =
  | StartMessage
  /**
   * A signal for the container. SIGTERM goes to the main process, as with `docker stop`. SIGKILL goes to the whole
   * process group.
   */
  | { readonly type: "signal"; readonly signal: "SIGTERM" | "SIGKILL" }
  /** A notice that the spot instance will be interrupted at `time` (ISO 8601). */
  | { readonly type: "interrupt"; readonly time: string };

export type HostMessage =
  | { readonly type: "started"; readonly pid: number }
  | { readonly type: "start-error"; readonly message: string }
  | { readonly type: "lines"; readonly lines: readonly LogLine[] }
  /** The exit code as Docker counts it: 128 + n after signal n. */
  | { readonly type: "exit"; readonly exitCode: number };
