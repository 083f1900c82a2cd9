import type { Node } from "typescript/unstable/ast";

/** A unit of code that runs as a whole: a module's top level, a function, or a method. */
export interface Unit {
  readonly node: Node;
  readonly file: string;
  readonly name: string;
  /** The SDK commands that it creates: `PutCommand`, … */
  readonly commands: Set<string>;
  /** The other values of the SDK that it uses. */
  readonly sdkValues: Set<string>;
  /** The names of properties that it writes into object literals, with their text if it is a literal. */
  readonly properties: Map<string, Set<string>>;
  readonly callers: Set<Unit>;
}

/**
 * A call that passes a value of the configuration to a function: `createRunRepository(client, config.tables.catalog)`.
 */
export interface Wiring {
  /** The file of the called function. */
  readonly file: string;
  /** The setting, e.g. `tables.catalog`. */
  readonly setting: string;
}

/** A parameter with the resource of a function that is passed on: `createAttemptRepository(client, table)`. */
export interface Handover {
  readonly from: string;
  readonly to: string;
}
