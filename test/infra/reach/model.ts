import type { Node } from "typescript/unstable/ast";

/** A piece of code that runs as a whole: a module's top level, a function, a method. */
export interface Unit {
  readonly node: Node;
  readonly file: string;
  readonly name: string;
  /** SDK commands that it makes: `PutCommand`, … */
  readonly commands: Set<string>;
  /** Other values that it takes from the SDK. */
  readonly sdkValues: Set<string>;
  /** Names of properties that it writes into object literals, with their text where that is a literal. */
  readonly properties: Map<string, Set<string>>;
  readonly callers: Set<Unit>;
}

/** A call that hands a value of the configuration to a function: `createRunRepository(client, config.tables.catalog)`. */
export interface Wiring {
  /** File of the function that is called. */
  readonly file: string;
  /** `tables.catalog` */
  readonly setting: string;
}

/** A parameter that says where its function works, handed on: `createAttemptRepository(client, table)`. */
export interface Handover {
  readonly from: string;
  readonly to: string;
}
