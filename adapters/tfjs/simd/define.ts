import type { Code } from "../../wasm/encoding";
import { i32, local } from "../../wasm/instructions";
import type { ValueType, WasmFunction } from "../../wasm/module";

/** The variables of a function: indices by name. */
export type Variables<Name extends string> = Readonly<Record<Name, number>>;

/** Defines a function of i32 parameters without a result, with named variables. */
export function define<Param extends string, Local extends string>(
  name: string,
  params: readonly Param[],
  locals: Readonly<Record<Local, ValueType>>,
  body: (variables: Variables<Param | Local>) => readonly Code[],
): WasmFunction {
  const names = [...params, ...Object.keys(locals)];
  const variables = Object.fromEntries(names.map((each, index) => [each, index])) as Variables<Param | Local>;
  return { name, params: params.map(() => "i32"), locals: Object.values<ValueType>(locals), body: body(variables) };
}

/** Returns `target += amount` for two variables. */
export const addTo = (target: number, amount: number): Code =>
  local.set(target, i32.add(local.get(target), local.get(amount)));

/** Returns `variable × factor`. */
export const times = (variable: number, factor: number): Code => i32.mul(local.get(variable), i32.const(factor));

export const range = (length: number): readonly number[] => Array.from({ length }, (_, index) => index);
