export type RequestContext = Readonly<Record<string, string | readonly string[]>>;

export type Condition = (context: RequestContext) => boolean;

/**
 * The operators. Each makes a test for one wanted value. It is compiled, because a list may have hundreds of values and
 * is tested for each request.
 */
const operators: Readonly<Record<string, (wanted: string) => (actual: string) => boolean>> = {
  StringEquals: (wanted) => (actual) => wanted === actual,
  StringLike: (wanted) => {
    const pattern = patternOf(wanted);
    return (actual) => pattern.test(actual);
  },
};

/**
 * Compiles one operator of a `Condition`, such as `"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [...]}`.
 * @throws Error for an operator that is not implemented, because ignoring it could allow too much
 */
export function compileCondition(name: string, keys: Readonly<Record<string, string | readonly string[]>>): Condition {
  const [, all, operator = ""] = /^(ForAllValues:)?(\w+)$/.exec(name) ?? [];
  const tests = Object.entries(keys).map(([key, wanted]): Condition => {
    const wants = list(wanted);
    const from = key.toLowerCase();
    if (name === "Null") {
      return (context) => wants.some((want) => (want === "true") === (valuesOf(context, from).length === 0));
    }
    const test = Object.hasOwn(operators, operator) ? operators[operator] : undefined;
    if (!test) throw new Error(`The embedded IAM does not know the condition operator ${name}.`);
    const matches = wants.map(test);
    const holds = (actual: string) => matches.some((match) => match(actual));
    return (context) => (all ? valuesOf(context, from).every(holds) : valuesOf(context, from).some(holds));
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

export function patternOf(text: string, flags = ""): RegExp {
  const source = text
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", "[^]*")
    .replaceAll("?", "[^]");
  return new RegExp(`^${source}$`, flags);
}
