import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hostFiles } from "../../platform/host-files";
import type { Machine } from "./host-messages";
import { instanceId } from "./names";

/** Writes the files with which the host of a container describes itself, as `infra/constructs/host-facts.ts` does on AWS. */
export class HostFiles {
  constructor(private readonly directory: string) {
    mkdirSync(directory, { recursive: true });
  }

  /** @param pid the container's main process, which identifies the emulated instance */
  describe(machine: Machine, pid: number): void {
    this.publish(hostFiles.machine, { instanceId: instanceId(pid), ...machine });
  }

  /** @param time the end of the host (ISO 8601) */
  announce(time: string): void {
    this.publish(hostFiles.spotNotice, { action: "terminate", time });
  }

  private publish(file: string, content: object): void {
    const temporary = join(this.directory, `.${file}`);
    writeFileSync(temporary, JSON.stringify(content));
    renameSync(temporary, join(this.directory, file));
  }
}
