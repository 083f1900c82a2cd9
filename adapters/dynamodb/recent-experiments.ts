import { BoundedMap } from "../../core/bounded-map";
import type { Clock } from "../../core/ports";
import type { Experiment } from "../../core/tracking/shapes";

/** The time that a cached experiment is trusted. Another process's change is seen after that. */
const trustedMs = 1_000;
const maxCached = 10_000;

/**
 * A cache of recently read experiments. A client that creates thousands of runs then does not read its experiment each
 * time.
 */
export class RecentExperiments {
  private readonly known = new BoundedMap<string, { readonly experiment: Experiment; readonly until: number }>(
    maxCached,
  );

  constructor(private readonly clock: Clock) {}

  note(experiment: Experiment): void {
    const kept = { experiment, until: this.clock.now() + trustedMs };
    this.known.set(this.idKey(experiment.team, experiment.experimentId), kept);
    this.known.set(this.nameKey(experiment.team, experiment.name), kept);
  }

  /** Removes an experiment. Call it before the experiment changes. */
  forget({ team, experimentId, name }: Experiment): void {
    this.known.delete(this.idKey(team, experimentId));
    this.known.delete(this.nameKey(team, name));
  }

  byId(team: string, experimentId: string): Experiment | undefined {
    return this.fresh(this.idKey(team, experimentId));
  }

  byName(team: string, name: string): Experiment | undefined {
    return this.fresh(this.nameKey(team, name));
  }

  private fresh(key: string): Experiment | undefined {
    const found = this.known.get(key);
    return found && found.until > this.clock.now() ? found.experiment : undefined;
  }

  private idKey(team: string, experimentId: string): string {
    return `${team}/${experimentId}`;
  }

  private nameKey(team: string, name: string): string {
    return `${team}/name/${name}`;
  }
}
