/** A member, read by protobuf's JSON mapping (https://protobuf.dev/programming-guides/json/). `null` means absent. */
export interface Field<T, Absent = undefined> {
  read(value: unknown): T;
  readonly absent: Absent;
  readonly required?: true;
  /** In a query, each occurrence is an element. */
  readonly repeated?: true;
  /** In a query, `true` and `false` are texts. */
  readonly boolean?: true;
  /** The member's old name, which is read if the new one is absent. */
  readonly alias?: string;
  /** The member's type as data, for tests that make requests. */
  readonly shape: Shape;
}

export type Shape =
  | { readonly type: "text" | "integer" | "double" | "boolean" }
  | { readonly type: "enum"; readonly names: readonly string[] }
  | { readonly type: "list"; readonly element: Shape }
  | { readonly type: "message"; readonly members: Readonly<Record<string, Shape>> };

export type Fields = Readonly<Record<string, Field<unknown, unknown>>>;

export type Values<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends Field<infer T, infer Absent>
    ? F[K] extends { readonly required: true }
      ? T
      : T | Absent
    : never;
};

/** A value has another type than its member, or a required one is missing: then `value` is `undefined`. */
export class FieldError extends Error {
  /** As in `metrics[3].key`. */
  at = "";

  constructor(readonly value: unknown) {
    super("a member of the request is of another type, or is missing");
  }
}

/** Reads a part of a request; an error names the place of the part. */
function readAt<T>(place: string, field: Field<T, unknown>, value: unknown): T {
  try {
    return field.read(value);
  } catch (error) {
    if (error instanceof FieldError) error.at = `${place}${/^(?:\[|$)/.test(error.at) ? "" : "."}${error.at}`;
    throw error;
  }
}

function scalar<T>(shape: Shape, read: (value: unknown) => T): Field<T> {
  return { read, absent: undefined, shape };
}

export const text: Field<string> = scalar({ type: "text" }, (value) => {
  if (typeof value !== "string") throw new FieldError(value);
  return value;
});

/** Reads an integer. An integer that a double cannot represent exactly is refused. */
export const integer: Field<number> = scalar({ type: "integer" }, (value) => {
  const read = typeof value === "string" && /^[+-]?\d{1,19}$/.test(value) ? Number(value) : value;
  if (typeof read !== "number" || !Number.isSafeInteger(read)) throw new FieldError(value);
  return read;
});

export const double: Field<number> = scalar({ type: "double" }, (value) => {
  if (typeof value === "number") return value;
  if (typeof value === "string") {
    if (value === "NaN" || value === "Infinity" || value === "-Infinity") return Number(value);
    const read = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?\s*$/i.test(value) ? Number(value) : Number.NaN;
    if (Number.isFinite(read)) return read;
  }
  throw new FieldError(value);
});

export const boolean: Field<boolean> & { readonly boolean: true } = {
  ...scalar({ type: "boolean" }, (value) => {
    if (typeof value !== "boolean") throw new FieldError(value);
    return value;
  }),
  boolean: true,
};

export function oneOf<Name extends string>(names: Readonly<Record<Name, number>>): Field<Name> {
  const byNumber = new Map(Object.entries(names).map(([name, number]) => [number, name as Name]));
  return scalar({ type: "enum", names: Object.keys(names) }, (value) => {
    if (typeof value === "string" && Object.hasOwn(names, value)) return value as Name;
    const name = byNumber.get(typeof value === "string" && /^\d+$/.test(value) ? Number(value) : (value as number));
    if (name === undefined) throw new FieldError(value);
    return name;
  });
}

export function list<T>(element: Field<T, unknown>): Field<readonly T[], readonly T[]> & { readonly repeated: true } {
  return {
    read(value) {
      if (!Array.isArray(value)) throw new FieldError(value);
      return value.map((one, i) => readAt(`[${i}]`, element, one));
    },
    absent: [],
    repeated: true,
    shape: { type: "list", element: element.shape },
  };
}

export function message<F extends Fields>(fields: F): Field<Values<F>> {
  return scalar({ type: "message", members: shapesOf(fields) }, (value) => {
    if (value === null || typeof value !== "object" || Array.isArray(value)) throw new FieldError(value);
    return readMembers(fields, value as Readonly<Record<string, unknown>>);
  });
}

export function shapesOf(fields: Fields): Readonly<Record<string, Shape>> {
  return Object.fromEntries(Object.entries(fields).map(([name, { shape }]) => [name, shape]));
}

/** Makes a member required: `null` and `""` count as absent. */
export function required<T, Absent, Extra extends object>(
  field: Field<T, Absent> & Extra,
): Field<T, Absent> & Extra & { readonly required: true } {
  return { ...field, required: true };
}

/** Reads an object's members; unknown ones are ignored. A required member has no alias, as in MLflow's server. */
export function readMembers<F extends Fields>(fields: F, from: Readonly<Record<string, unknown>>): Values<F> {
  const values: Record<string, unknown> = {};
  for (const name in fields) {
    const field = fields[name]!;
    const direct = from[name] ?? (field.alias === undefined ? undefined : from[field.alias]);
    const value = direct ?? (field.required ? undefined : from[camelCase(name)]);
    if (value === undefined || value === null || (field.required && value === "")) {
      values[name] = field.required ? readAt(name, missing, undefined) : field.absent;
    } else values[name] = readAt(name, field, value);
  }
  return values as Values<F>;
}

const missing: Field<never> = scalar({ type: "text" }, () => {
  throw new FieldError(undefined);
});

export const keyValue = message({ key: text, value: text });

const camelCased = new Map<string, string>();

export function camelCase(name: string): string {
  let camel = camelCased.get(name);
  if (camel === undefined) {
    camel = name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    camelCased.set(name, camel);
  }
  return camel;
}
