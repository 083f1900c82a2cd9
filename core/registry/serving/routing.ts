import { createHash } from "node:crypto";
import { NoChampionError } from "../errors";
import type { Model } from "../model";
import type { Traffic } from "./shapes";
import { slots, trafficOf } from "./traffic";

export interface Routes {
  readonly model: string;
  readonly epoch: number;
  /** In the order of the units. */
  readonly assignments: readonly {
    readonly unit: string;
    readonly version: number;
    readonly role: "champion" | "canary";
  }[];
  readonly shadows: readonly number[];
}

/** The part of a model's head that routing needs. The bucket has a copy of it. */
export interface RoutedModel extends Pick<Model, "name" | "production" | "traffic"> {
  /** Revision of the model. */
  readonly revision: number;
}

export function routedModel({ name, revision, production, traffic }: Model): RoutedModel {
  return {
    name,
    revision,
    ...(production === undefined ? {} : { production }),
    ...(traffic === undefined ? {} : { traffic }),
  };
}

/** @throws NoChampionError if nothing was promoted yet */
export function routesOf(model: RoutedModel, units: readonly string[]): Routes {
  const { name, production } = model;
  if (production === undefined) throw new NoChampionError(name);
  const traffic = trafficOf(model);
  return {
    model: name,
    epoch: traffic.epoch,
    assignments: units.map((unit) => {
      const version = assign(name, unit, production, traffic);
      return { unit, version, role: version === production ? "champion" : "canary" };
    }),
    shadows: traffic.shadows,
  };
}

/**
 * Returns the version for a unit: a function of model, traffic and unit alone. Every process gives the same result. If
 * the traffic changes, as few units as possible change their version.
 *
 * @param unit a user, a session or a device, as any text
 * @param champion gets the units that the canaries leave
 */
export function assign(model: string, unit: string, champion: number, { canaries, deal }: Traffic): number {
  const slot = slotOf(model, deal, unit);
  const canary = canaries.find(({ ranges }) => ranges.some(({ from, to }) => slot >= from && slot < to));
  return canary?.version ?? champion;
}

/** Returns the unit's slot by SHA-256, whose first 48 bits are uniform over the slots to one part in 10^10. */
function slotOf(model: string, deal: number, unit: string): number {
  const digest = createHash("sha256").update(`${model}\0${deal}\0${unit}`).digest();
  return digest.readUIntBE(0, 6) % slots;
}
