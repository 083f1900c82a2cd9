import { NoChampionError } from "../errors";
import type { Model } from "../model";
import { assign } from "./assignment";
import { trafficOf } from "./settle";

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
