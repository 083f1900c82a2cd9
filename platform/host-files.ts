/** The directory in which a trainer's host describes itself to its containers (docs/adr/070-host-facts.md). */
export const hostDirectory = "/run/ringmaster";

/** The files of that directory. Each appears, and is replaced, as a whole. */
export const hostFiles = {
  /** The machine, as in `MachineRecord` without the worker. */
  machine: "machine.json",
  /** EC2's `spot/instance-action`, from the notice on. */
  spotNotice: "spot-notice.json",
} as const;
