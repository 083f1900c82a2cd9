/**
 * Builds functions of WebAssembly from TypeScript that returns code. `v.name` is the *index* of a variable,
 * `local.get(v.name)` reads it. Locals begin as 0.
 */
import type { Code } from "../../wasm/encoding";
import { advance, i32, local, whileLoop } from "../../wasm/instructions";
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

export const range = (length: number): readonly number[] => Array.from({ length }, (_, index) => index);

/** Returns the locals `name0`, `name1`, … for `define`. Their indices are `numberedOf(variables, name, count)`. */
export function numbered(name: string, count: number, type: ValueType): Readonly<Record<never, ValueType>> {
  return Object.fromEntries(range(count).map((index) => [`${name}${index}`, type]));
}

export const numberedOf = (
  variables: Readonly<Record<string, number>>,
  name: string,
  count: number,
): readonly number[] => range(count).map((index) => variables[`${name}${index}`] as number);

export const addTo = (target: number, amount: number): Code =>
  local.set(target, i32.add(local.get(target), local.get(amount)));

export const times = (variable: number, factor: number): Code => i32.mul(local.get(variable), i32.const(factor));

/** Repeats `body` until the variable, which counts down by one, is 0. */
export const countDown = (variable: number, ...body: readonly Code[]): Code =>
  whileLoop(local.get(variable), ...body, advance(variable, -1));

/** Repeats `body` as many times as `count` says. `left` is a local for the rest. */
export const repeat = (left: number, count: number, ...body: readonly Code[]): Code => [
  ...local.set(left, local.get(count)),
  ...countDown(left, ...body),
];
