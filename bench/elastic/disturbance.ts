import type { Random } from "../../test/support/random";
import type { Crew } from "./crew";
import type { Relay } from "./relay";
import type { Job } from "./task";
import type { Life } from "./time-point";
import type { Worker } from "./worker";

export interface Trial {
  readonly crew: Crew;
  readonly relay: Relay;
  readonly random: Random;
  readonly life: Life;
  readonly job: Job;
  /** Counts from 0. */
  readonly index: number;
}

export interface Disturbance {
  readonly what: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly victims: readonly Worker[];
}
