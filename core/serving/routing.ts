import { NoChampionError } from "../registry/errors";
import type { Model } from "../registry/model";
import { assign } from "./assignment";
import { trafficOf } from "./settle";

export interface Routes {
  readonly model: string;
  readonly epoch: number;
  /** In the units' order. */
  readonly assignments: readonly {
    readonly unit: string;
    readonly version: number;
    readonly role: "champion" | "canary";
  }[];
  readonly shadows: readonly number[];
}

/** What a route needs of a model's head. */
export type Routed = Pick<Model, "name" | "production" | "traffic">;

/** @throws NoChampionError where nothing was promoted yet: nobody may serve */
export function routesOf(model: Routed, units: readonly string[]): Routes {
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
