import type { Clock } from "../../clock";
import type { Catalog } from "../store/catalog";
import type { Maintenance } from "../store/maintenance";
import type { Store } from "../store/store";
import type { Fields } from "../wire/fields";

export interface Context {
  readonly store: Store;
  readonly catalog: Catalog;
  readonly maintenance: Maintenance;
  readonly clock: Clock;
  /** Runs changes of tables one after the other. */
  readonly exclusively: <T>(work: () => Promise<T>) => Promise<T>;
}

/** The answer's JSON: an object, or text where items are passed on unparsed. */
export type Answer = string | object;
export type Operation = (context: Context, fields: Fields) => Promise<Answer>;
