import type { JobBook } from "./job-book";
import { hostLost, instanceId } from "./names";
import type { Runner } from "./runner";
import { type Ending, isFinal, type Job } from "./types";

export interface GangHost {
  readonly book: JobBook;
  readonly runner: Runner;
  startNode(node: Job, parent: Job): void;
  settle(parent: Job, ending: Ending): void;
}

const isActive = (node: Job) => node.status === "STARTING" || node.status === "RUNNING";
const isMain = (node: Job) => node.index === node.mainNode;

/**
 * Runs multi-node parallel jobs by Batch's rules. The children start once the main node runs. The exit of the main node
 * ends the job, and only a failure of the main node leads to a new attempt. The other nodes must notice a failed child
 * themselves.
 *
 * All state is in the jobs, so a restart continues from the state on disk.
 */
export class Gang {
  constructor(private readonly host: GangHost) {}

  start(parent: Job, placed: Partial<Job>): void {
    const { book } = this.host;
    book.move(parent, "STARTING", placed);
    for (const node of book.children(parent)) book.update(node, placed);
    const main = this.main(parent);
    book.move(main, "STARTING");
    this.host.startNode(main, parent);
  }

  running(node: Job): void {
    const { book } = this.host;
    const parent = book.get(node.parent!)!;
    book.move(node, "RUNNING", { startedAt: node.container?.startedAt });
    if (!isMain(node)) return;
    book.move(parent, "RUNNING", { startedAt: node.startedAt });
    for (const child of book.children(parent)) {
      if (isMain(child)) continue;
      book.move(child, "STARTING");
      this.host.startNode(child, parent);
    }
  }

  ended(node: Job, ending: Ending): void {
    const { book, runner } = this.host;
    const parent = book.get(node.parent!)!;
    book.move(node, ending.exitCode === 0 ? "SUCCEEDED" : "FAILED", { statusReason: ending.statusReason });
    const nodes = book.children(parent);
    if (isMain(node)) for (const other of nodes) runner.stop(other, "Stopped: the main node has exited");
    this.settleWhenOver(parent);
  }

  stop(parent: Job, reason: string): void {
    for (const node of this.host.book.children(parent)) this.host.runner.stop(node, reason);
  }

  recover(parent: Job, lost: (node: Job) => void): void {
    const { book } = this.host;
    const main = this.main(parent);
    // The process was killed between the start of the gang and the start of its main node, so no node has run.
    if (!isActive(main) && !isFinal(main.status)) {
      this.host.settle(parent, { statusReason: hostLost(instanceId(0)) });
      return;
    }
    const active = book.children(parent).filter(isActive);
    for (const node of active) lost(node);
    if (active.length === 0) this.settleWhenOver(parent);
  }

  private settleWhenOver(parent: Job): void {
    const { book } = this.host;
    const main = this.main(parent);
    const nodes = book.children(parent);
    if (isFinal(parent.status) || !isFinal(main.status) || nodes.some(isActive)) return;
    const last = main.attempts.at(-1)!;
    book.update(parent, { attempts: [...parent.attempts, last] });
    this.host.settle(parent, last);
    const { status } = parent;
    for (const node of nodes) {
      if (status === "RUNNABLE")
        book.move(node, "RUNNABLE", { container: undefined, startedAt: undefined, stoppedAt: undefined });
      else if (!isFinal(node.status))
        book.move(node, "FAILED", { statusReason: "The main node exited before this node ran" });
    }
  }

  private main(parent: Job): Job {
    return this.host.book.children(parent).find(isMain)!;
  }
}
