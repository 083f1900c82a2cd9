import { at, type Clock } from "../../clock";
import type { Outcome } from "./tasks/invoke";
import type { Phase, TaskPhase, Thread } from "./thread";

export interface EffectHandlers {
  readonly clock: Clock;
  wake(thread: string): void;
  invoke(phase: TaskPhase, signal: AbortSignal): Promise<Outcome>;
  settled(thread: string, phase: TaskPhase, outcome: Outcome): void;
}

interface Armed {
  readonly phase: Phase;
  cancel(): void;
  heartbeat?(): void;
}

export class Effects {
  private readonly armed = new Map<string, Armed>();

  constructor(private readonly handlers: EffectHandlers) {}

  sweep(threads: ReadonlyMap<string, Thread>): void {
    for (const [id, { phase, cancel }] of this.armed) {
      if (threads.get(id)?.phase === phase) continue;
      cancel();
      this.armed.delete(id);
    }
  }

  arm(thread: Thread): void {
    const { id, phase } = thread;
    if (this.armed.get(id)?.phase === phase) return;
    this.armed.get(id)?.cancel();
    this.armed.delete(id);
    if (phase.kind === "task") this.armed.set(id, this.armTask(id, phase));
    if (phase.kind === "waiting" || phase.kind === "backoff") {
      const cancel = at(this.handlers.clock, phase.until, () => this.handlers.wake(id));
      this.armed.set(id, { phase, cancel });
    }
  }

  /** Restarts the thread's heartbeat interval. */
  heartbeat(thread: string): void {
    this.armed.get(thread)?.heartbeat?.();
  }

  cancelAll(): void {
    for (const { cancel } of this.armed.values()) cancel();
    this.armed.clear();
  }

  private armTask(id: string, phase: TaskPhase): Armed {
    const { clock, wake } = this.handlers;
    const { timeoutSeconds, heartbeatSeconds } = phase.task;
    const invocation = new AbortController();
    const stopTimeout =
      timeoutSeconds === undefined ? undefined : at(clock, phase.scheduledAt + timeoutSeconds * 1000, () => wake(id));
    let stopHeartbeat: (() => void) | undefined;
    const heartbeat = (): void => {
      stopHeartbeat?.();
      if (heartbeatSeconds === undefined) return;
      phase.heartbeatDue = clock.now() + heartbeatSeconds * 1000;
      stopHeartbeat = at(clock, phase.heartbeatDue, () => wake(id));
    };
    heartbeat();
    if (!phase.submitted) {
      void this.handlers.invoke(phase, invocation.signal).then((outcome) => {
        if (!invocation.signal.aborted) this.handlers.settled(id, phase, outcome);
      });
    }
    const cancel = (): void => {
      stopTimeout?.();
      stopHeartbeat?.();
      invocation.abort();
    };
    return { phase, cancel, heartbeat };
  }
}
