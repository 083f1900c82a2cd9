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
}

/** The JSON of an answer: an object, or text if stored items are sent unparsed. */
export type Answer = string | object;
export type Operation = (context: Context, fields: Fields) => Promise<Answer>;
