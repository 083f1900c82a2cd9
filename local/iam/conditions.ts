/** The values of a request's condition keys, by key in lower case. A missing key is absent from the request. */
export type RequestContext = Readonly<Record<string, string | readonly string[]>>;

/**
 * A test for one wanted value. It is compiled, because a list may have hundreds of values and is tested for each
 * request.
 */
type Test = (wanted: string) => (actual: string) => boolean;

const equals: Test = (wanted) => (actual) => wanted === actual;
const like: Test = (wanted) => {
  const pattern = patternOf(wanted);
  return (actual) => pattern.test(actual);
};
const bool: Test = (wanted) => (actual) => wanted.toLowerCase() === actual.toLowerCase();

/**
 * The operators. Each compares one wanted with one actual value. A negated operator holds if no wanted value matches.
 */
const operators: Readonly<Record<string, { readonly test: Test; readonly negated?: true }>> = {
  StringEquals: { test: equals },
  StringNotEquals: { test: equals, negated: true },
  StringLike: { test: like },
  StringNotLike: { test: like, negated: true },
  ArnEquals: { test: like },
  ArnLike: { test: like },
  Bool: { test: bool },
};

/** A compiled condition element. */
export type Condition = (context: RequestContext) => boolean;

/**
 * Compiles one operator of a `Condition`, such as `"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [...]}`.
 * @throws Error for an operator that is not implemented, because ignoring it could allow too much
 */
export function compileCondition(name: string, keys: Readonly<Record<string, string | readonly string[]>>): Condition {
  const [, set, operator = "", ifExists] = /^(?:(ForAllValues|ForAnyValue):)?(\w+?)(IfExists)?$/.exec(name) ?? [];
  const tests = Object.entries(keys).map(([key, wanted]): Condition => {
    const wants = list(wanted);
    const from = key.toLowerCase();
    if (operator === "Null" && set === undefined) {
      return (context) => wants.some((want) => (want === "true") === (valuesOf(context, from).length === 0));
    }
    const known = Object.hasOwn(operators, operator) ? operators[operator] : undefined;
    if (!known) throw new Error(`The embedded IAM does not know the condition operator ${name}.`);
    const { test, negated } = known;
    const matches = wants.map(test);
    const holds = (actual: string) => matches.some((match) => match(actual)) !== (negated === true);
    return (context) => {
      const actual = valuesOf(context, from);
      if (set === "ForAllValues") return actual.every(holds);
      if (set === "ForAnyValue") return actual.some(holds);
      if (actual.length === 0) return ifExists !== undefined || negated === true;
      return actual.some(holds);
    };
  });
  return (context) => tests.every((test) => test(context));
}

function valuesOf(context: RequestContext, key: string): readonly string[] {
  const value = context[key];
  return value === undefined ? [] : list(value);
}

export function list(value: string | readonly string[]): readonly string[] {
  return typeof value === "string" ? [value] : value;
}

/** Compiles a pattern with IAM's wildcards: `*` matches any characters, and `?` matches one. */
export function patternOf(text: string, flags = ""): RegExp {
  const source = text
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", "[^]*")
    .replaceAll("?", "[^]");
  return new RegExp(`^${source}$`, flags);
}
