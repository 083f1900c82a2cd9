/** Facts about the host from its files: its address, its machine, notices of reclamation. */

import { readFile } from "node:fs/promises";
import type { NetworkInterfaceInfo } from "node:os";
import path from "node:path";
import type { MachineRecord } from "../../core/runs/shapes";
import { hostFiles } from "../../platform/host-files";

/** EC2's `spot/instance-action`, at most two minutes before the instance is reclaimed. */
export interface SpotNotice {
  readonly action: "terminate" | "stop" | "hibernate" | (string & {});
  /** ISO 8601. */
  readonly time: string;
}

/** @returns undefined if the host has not described itself */
export async function readMachine(directory: string, memberId: string): Promise<MachineRecord | undefined> {
  const machine = await readJson<Omit<MachineRecord, "memberId">>(directory, hostFiles.machine);
  return machine && { memberId, ...machine };
}

interface SpotWatcherOptions {
  readonly directory: string;
  readonly intervalMs: number;
  readonly onNotice: (notice: SpotNotice) => void;
}

/** @returns `stop` ends it; `looked` settles after the first look, whether there is a notice or not */
export function watchSpot({ directory, intervalMs, onNotice }: SpotWatcherOptions): {
  readonly stop: () => void;
  readonly looked: Promise<void>;
} {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  async function look(): Promise<void> {
    const notice = await readJson<SpotNotice>(directory, hostFiles.spotNotice);
    if (stopped) return;
    if (notice !== undefined) {
      onNotice(notice);
      return;
    }
    timer = setTimeout(() => void look(), intervalMs);
    timer.unref();
  }

  return {
    looked: look(),
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** Reads a file of the host. An absent file, and one that is not JSON, count as none: training does not depend on it. */
async function readJson<T>(directory: string, file: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(path.join(directory, file), "utf8")) as T;
  } catch {
    return undefined;
  }
}

/** Network bridges of container runtimes and virtual machines: they have an address that other hosts cannot reach. */
const virtual = /^(docker|br-|veth|virbr|cni|cali|flannel|ecs-bridge|lxc)/;

/** Returns the address at which other workers reach this process: the first IPv4 address of a real interface. */
export function advertisedHost(
  interfaces: Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>,
): string {
  for (const [name, addresses = []] of Object.entries(interfaces)) {
    if (virtual.test(name)) continue;
    const match = addresses.find(
      ({ family, internal, address }) => family === "IPv4" && !internal && !address.startsWith("169.254."),
    );
    if (match) return match.address;
  }
  return "127.0.0.1"; // a host without a network trains alone
}
