import type { ValueType } from "./definition";

declare const valueType: unique symbol;

/** A value that is known when the pipeline runs: a parameter, a field of an output, an item. In JSON it is an expression. */
export type Reference<T> = {
  readonly toJSON: () => string;
  readonly [valueType]?: T;
} & (T extends readonly (infer Item)[]
  ? { readonly [index: number]: Reference<Item> }
  : T extends object
    ? { readonly [Name in keyof T]-?: Reference<NonNullable<T[Name]>> }
    : unknown);

/** A value, or a reference to one, at any depth. */
export type Input<T> = T | Reference<T> | (T extends object ? { readonly [Name in keyof T]: Input<T[Name]> } : never);

interface ValueOf {
  readonly string: string;
  readonly number: number;
  readonly integer: number;
  readonly boolean: boolean;
  readonly array: readonly unknown[];
  readonly object: Readonly<Record<string, unknown>>;
}

interface Parameter {
  readonly type: ValueType;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly description?: string;
}

interface Options {
  readonly after?: readonly string[];
  readonly when?: Reference<boolean>;
  readonly join?: "all" | "any";
  readonly retries?: number;
  readonly minutes?: number;
  readonly cache?: boolean;
  readonly environment?: Readonly<Record<string, unknown>>;
}

// biome-ignore lint/suspicious/noExplicitAny: a module's function takes any argument
type Module = { readonly default: (input: any, ...more: any[]) => unknown };
type InputOf<M extends Module> = Parameters<M["default"]>[0];
type OutputOf<M extends Module> = Awaited<ReturnType<M["default"]>>;

/** A step that was added, for references in later steps. */
export interface AddedStep<Output> {
  readonly name: string;
  readonly output: Reference<Output>;
}

interface Builder<Parameters> {
  readonly parameters: { readonly [Name in keyof Parameters]: Reference<Parameters[Name]> };
  /** Adds a function of a module. Its input and output have the types of the module's default export. */
  step<M extends Module>(
    name: string,
    module: string,
    options: Options & { readonly input: Input<InputOf<M>> },
  ): AddedStep<OutputOf<M>>;
  /** Adds a function that runs once for each item of a list. */
  each<M extends Module, Item>(
    name: string,
    module: string,
    items: Reference<readonly Item[]> | readonly Item[],
    options: Options & {
      readonly concurrency?: number;
      readonly input: (item: Reference<Item>, index: Reference<number>) => Input<InputOf<M>>;
    },
  ): AddedStep<readonly OutputOf<M>[]>;
  /** Adds a step of any other kind, as in a YAML file. */
  add<Output = Readonly<Record<string, unknown>>>(name: string, step: object): AddedStep<Output>;
}

/** @example expression`${fit.output.metrics.accuracy} > 0.9` */
export function expression<T = boolean>(
  text: TemplateStringsArray,
  ...references: readonly Reference<unknown>[]
): Reference<T> {
  const parts = text.map((part, i) => part + (references[i]?.toJSON().slice(2, -1) ?? ""));
  return referenceTo(`(${parts.join("")})`);
}

function referenceTo<T>(path: string): Reference<T> {
  const toJSON = () => `\${${path}}`;
  return new Proxy({} as Reference<T>, {
    get: (_, name) =>
      name === "toJSON"
        ? toJSON
        : referenceTo(/^\d+$/.test(String(name)) ? `${path}[${String(name)}]` : `${path}.${String(name)}`),
  });
}

/**
 * Defines a pipeline in TypeScript, as the default export of a file for `ringmaster pipelines push`.
 * @example definePipeline("weekly", { rows: { type: "integer" } }, ({ parameters, step }) => { step<typeof import("./src/clean")>("clean", "src/clean.ts", { input: { rows: parameters.rows } }); })
 */
export function definePipeline<const P extends Readonly<Record<string, Parameter>>>(
  name: string,
  parameters: P,
  build: (
    builder: Builder<{ readonly [Name in keyof P]: ValueOf[P[Name]["type"]] }> & {
      readonly last: Pick<Builder<unknown>, "step" | "add">;
    },
  ) => void,
  more: { readonly onFailure?: "stop" | "finish"; readonly description?: string; readonly limits?: object } = {},
): object {
  const [steps, last]: Record<string, object>[] = [{}, {}];
  const adderOf = (section: Record<string, object>): Builder<never> => {
    const add = (step: string, definition: object) => {
      section[step] = definition;
      return { name: step, output: referenceTo<never>(`steps.${step}.output`) };
    };
    return {
      parameters: referenceTo("parameters") as never,
      step: (step, module, options) => add(step, { function: { module }, ...options }),
      each: (step, module, forEach, { input, ...options }) =>
        add(step, {
          function: { module },
          forEach,
          ...options,
          input: input(referenceTo("item"), referenceTo("index")),
        }),
      add,
    };
  };
  build({ ...adderOf(steps!), last: adderOf(last!) } as never);
  return { name, parameters, ...more, steps, finally: last };
}
