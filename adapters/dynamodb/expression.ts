/** A part of an expression of DynamoDB, with the values in it. */
export class Expression {
  constructor(
    private readonly text: readonly string[],
    private readonly values: readonly unknown[],
  ) {}

  /** Returns the text with placeholders. Adds the values and the reserved names of attributes to `given`. */
  write(given: Given): string {
    const parts = this.text.map((text, i) => {
      for (const [name] of text.matchAll(/#\w+/g)) given.names.set(name, name.slice(1));
      return i < this.values.length ? text + placeholder(this.values[i], given) : text;
    });
    return parts.join("");
  }
}

interface Given {
  readonly names: Map<string, string>;
  readonly values: Map<string, unknown>;
}

function placeholder(value: unknown, given: Given): string {
  if (value instanceof Expression) return value.write(given);
  const name = `:v${given.values.size}`;
  given.values.set(name, value);
  return name;
}

/**
 * Makes an expression. An interpolated value becomes a placeholder, and an interpolated expression a part of this one.
 * Write a name that DynamoDB reserves as `#name`.
 *
 * @example ex`SET #status = ${"running"}${at === undefined ? ex`` : ex`, updatedAt = ${at}`}`
 */
export function ex(text: TemplateStringsArray, ...values: readonly unknown[]): Expression {
  return new Expression(text, values);
}

export const absent = ex`attribute_not_exists(pk)`;
export const exists = ex`attribute_exists(pk)`;

/** Returns expressions as the members of a request, with their names and values. Omits those that are `undefined`. */
export function requestOf<Name extends string>(expressions: Readonly<Record<Name, Expression | undefined>>) {
  const given: Given = { names: new Map(), values: new Map() };
  const texts: Partial<Record<Name, string>> = {};
  for (const [name, expression] of Object.entries<Expression | undefined>(expressions)) {
    if (expression) texts[name as Name] = expression.write(given);
  }
  return {
    ...texts,
    ...(given.names.size === 0 ? {} : { ExpressionAttributeNames: Object.fromEntries(given.names) }),
    ...(given.values.size === 0 ? {} : { ExpressionAttributeValues: Object.fromEntries(given.values) }),
  };
}
