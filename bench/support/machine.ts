import { availableParallelism, cpus, loadavg, release, totalmem, type } from "node:os";

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly os: string;
  readonly node: string;
  /** Load average of the last minute. Other programs of the machine affect every number below it. */
  readonly loadAverage: number;
}

export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    os: `${type()} ${release()}`,
    node: process.version,
    loadAverage: Math.round(loadavg()[0]! * 100) / 100,
  };
}

export function machineLine({ cpu, cores, memoryGiB, os, node, loadAverage }: Machine): string {
  return `${cpu}, ${cores} cores, ${memoryGiB} GiB, ${os}, Node ${node}, load average ${loadAverage}`;
}
