/** The values of condition keys that a request has; keys in lower case. A key that is not here is absent from the request. */
export type RequestContext = Readonly<Record<string, string | readonly string[]>>;

/** Compiles a wanted value: a list may have hundreds, and each request is held against it. */
type Test = (wanted: string) => (actual: string) => boolean;

const equals: Test = (wanted) => (actual) => wanted === actual;
const like: Test = (wanted) => {
  const pattern = patternOf(wanted);
  return (actual) => pattern.test(actual);
};
const bool: Test = (wanted) => (actual) => wanted.toLowerCase() === actual.toLowerCase();

/** Operators by what they do with one wanted and one actual value; negated ones hold where none of the wanted does. */
const operators: Readonly<Record<string, { readonly test: Test; readonly negated?: true }>> = {
  StringEquals: { test: equals },
  StringNotEquals: { test: equals, negated: true },
  StringLike: { test: like },
  StringNotLike: { test: like, negated: true },
  ArnEquals: { test: like },
  ArnLike: { test: like },
  Bool: { test: bool },
};

/** A condition element, ready to be held against requests. */
export type Condition = (context: RequestContext) => boolean;

/**
 * Compiles one operator of a `Condition`, such as `"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [...]}`.
 * @throws Error for an operator that is not implemented: what is not understood must not be taken for granted
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

/** IAM's wildcards: `*` any characters, `?` one. */
export function patternOf(text: string, flags = ""): RegExp {
  const source = text
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", "[^]*")
    .replaceAll("?", "[^]");
  return new RegExp(`^${source}$`, flags);
}
