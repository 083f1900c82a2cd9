import { runtimeError, StateError } from "../errors";
import { isArray, isObject, type Json } from "../json";
import { intrinsics } from "./intrinsics";
import { lookUp, resolve } from "./path";
import { parsePath } from "./path-parse";
import type { Scope } from "./scope";

/** A function call in a payload template: `States.Format('{}', $.name, States.UUID())`. */
export type Call = { readonly name: string; readonly args: readonly Argument[] };
type Argument = Call | { readonly path: string } | { readonly literal: Json };

const token =
  /\s*(?:(States\.\w+)\s*\(|'((?:[^'\\]|\\.)*)'|(\$[^,()]*?(?:\[\?\(.*?\)\][^,()]*)?)(?=\s*[,)])|(-?\d+(?:\.\d+)?|true|false|null)|(\)))/y;

/** Parses a call. Throws a `SyntaxError` for anything but a call of a known intrinsic function. */
export function parseIntrinsic(text: string): Call {
  let at = 0;
  const next = (): RegExpExecArray => {
    token.lastIndex = at;
    const match = token.exec(text);
    if (!match) throw new SyntaxError(`Invalid intrinsic function '${text}': unexpected '${text.slice(at) || "end"}'`);
    at = token.lastIndex;
    return match;
  };
  const call = (name: string): Call => {
    if (!Object.hasOwn(intrinsics, name)) throw new SyntaxError(`Invalid intrinsic function '${text}': no ${name}`);
    const args: Argument[] = [];
    for (;;) {
      const [, inner, quoted, path, literal, close] = next();
      if (close) {
        if (args.length > 0) throw new SyntaxError(`Invalid intrinsic function '${text}': an argument is missing`);
        return { name, args };
      }
      if (inner) args.push(call(inner));
      else if (path) args.push({ path: checkedPath(path.trim()) });
      // States.Format processes its own escapes. Only the escape of a quote is resolved here.
      else if (quoted !== undefined) args.push({ literal: quoted.replace(/\\'/g, "'") });
      else args.push({ literal: JSON.parse(literal as string) as Json });
      const separator = /\s*([,)])/y;
      separator.lastIndex = at;
      const match = separator.exec(text);
      if (!match) throw new SyntaxError(`Invalid intrinsic function '${text}': expected ',' or ')' at position ${at}`);
      at = separator.lastIndex;
      if (match[1] === ")") return { name, args };
    }
  };
  const [, name] = next();
  if (!name) throw new SyntaxError(`Invalid intrinsic function '${text}'`);
  const parsed = call(name);
  if (text.slice(at).trim()) throw new SyntaxError(`Invalid intrinsic function '${text}': more follows its end`);
  return parsed;
}

function checkedPath(path: string): string {
  parsePath(path);
  return path;
}

function run(call: Call, scope: Scope, subject: Json): Json {
  const args = call.args.map((argument): Json => {
    if ("literal" in argument) return argument.literal;
    if ("name" in argument) return run(argument, scope, subject);
    const value = lookUp(argument.path, scope, subject);
    if (value !== undefined) return value;
    throw new StateError(
      runtimeError,
      `The JSONPath '${argument.path}' of the intrinsic function ${call.name} could not be found in the input '${JSON.stringify(subject)}'`,
    );
  });
  return (intrinsics[call.name] as (...values: readonly Json[]) => Json)(...args);
}

export const callIntrinsic = (text: string, scope: Scope, subject: Json): Json =>
  run(parseIntrinsic(text), scope, subject);

/** Fills a JSONPath payload template. The value of a field named `x.$` is a path or a call of an intrinsic function. */
export function fillPayload(template: Json, field: string, scope: Scope, subject: Json): Json {
  if (isArray(template)) return template.map((item) => fillPayload(item, field, scope, subject));
  if (!isObject(template)) return template;
  const filled: Record<string, Json> = {};
  for (const [key, value] of Object.entries(template)) {
    if (key.endsWith(".$")) filled[key.slice(0, -2)] = expressionValue(value as string, key, scope, subject);
    else filled[key] = fillPayload(value, `${field}/${key}`, scope, subject);
  }
  return filled;
}

/** Returns the value of a path or of a call of an intrinsic function. */
export const expressionValue = (text: string, field: string, scope: Scope, subject: Json): Json =>
  text.startsWith("$") ? resolve(text, field, scope, subject) : callIntrinsic(text, scope, subject);
