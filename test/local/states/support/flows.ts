import fc from "fast-check";

/*
 * Random state machines whose output does not depend on when, or how often, they are interrupted: functions are pure, and a flaky
 * one fails by the number of its retries, which the service must not lose.
 */

interface Step {
  readonly state: object;
  readonly extra?: (next: string | undefined) => Readonly<Record<string, object>>;
}

type Build = (name: string) => Step;

const invoke = (FunctionName: string, Payload: unknown, suffix = "") => ({
  Type: "Task",
  Resource: `arn:aws:states:::lambda:invoke${suffix}`,
  Arguments: { FunctionName, Payload },
});

const add =
  (n: number): Build =>
  () => ({
    state: { ...invoke("add", { value: "{% $states.input %}", n }), Output: "{% $states.result.Payload %}" },
  });

const flaky =
  (failures: number): Build =>
  () => ({
    state: {
      ...invoke("flaky", { failures, retry: "{% $states.context.State.RetryCount %}", value: "{% $states.input %}" }),
      Retry: [{ ErrorEquals: ["Flaky"], MaxAttempts: 5, IntervalSeconds: 2 }],
      Output: "{% $states.result.Payload %}",
    },
  });

const ask = (): Build => () => ({
  state: {
    ...invoke("ask", { token: "{% $states.context.Task.Token %}", value: "{% $states.input %}" }, ".waitForTaskToken"),
  },
});

const wait =
  (Seconds: number): Build =>
  () => ({ state: { Type: "Wait", Seconds } });

const assign = (): Build => (name) => ({
  state: {
    Type: "Pass",
    Assign: { [`seen_${name}`]: "{% $states.input %}" },
    Output: `{% [$states.input, $exists($seen_${name}) ? 1 : 0] ~> $string() ~> $length() %}`,
  },
});

const caught = (): Build => (name) => ({
  state: {
    ...invoke("fails", {}),
    Catch: [
      { ErrorEquals: ["States.ALL"], Next: `${name}c`, Output: "{% $states.input & $states.errorOutput.Error %}" },
    ],
  },
  extra: (next) => ({
    [`${name}c`]: {
      Type: "Pass",
      ...(next ? { Next: next } : { End: true }),
      Output: "{% $length($string($states.input)) %}",
    },
  }),
});

const parallel =
  (branches: readonly (readonly Build[])[]): Build =>
  (name) => ({
    state: {
      Type: "Parallel",
      Branches: branches.map((steps, i) => container(`${name}b${i}`, steps)),
      Output: "{% $length($string($states.result)) %}",
    },
  });

const map =
  (items: number, concurrency: number, steps: readonly Build[]): Build =>
  (name) => ({
    state: {
      Type: "Map",
      Items: `{% [1..${items}] %}`,
      MaxConcurrency: concurrency,
      ItemProcessor: container(`${name}m`, steps),
      Output: "{% $length($string($states.result)) %}",
    },
  });

function container(prefix: string, steps: readonly Build[]): object {
  const States: Record<string, object> = {};
  steps.forEach((build, i) => {
    const name = `${prefix}_${i}`;
    const next = i + 1 < steps.length ? `${prefix}_${i + 1}` : undefined;
    const { state, extra } = build(name);
    States[name] = { ...state, ...(next ? { Next: next } : { End: true }) };
    Object.assign(States, extra?.(next));
  });
  return { StartAt: `${prefix}_0`, States };
}

const leaf: fc.Arbitrary<Build> = fc.oneof(
  fc.integer({ min: 1, max: 9 }).map(add),
  fc.integer({ min: 1, max: 3 }).map(flaky),
  fc.constant(ask()),
  fc.integer({ min: 1, max: 90 }).map(wait),
  fc.constant(assign()),
  fc.constant(caught()),
);

const few = <T>(one: fc.Arbitrary<T>, maxLength: number) => fc.array(one, { minLength: 1, maxLength });

const nested: fc.Arbitrary<Build> = fc.oneof(
  { weight: 3, arbitrary: leaf },
  { weight: 1, arbitrary: fc.array(few(leaf, 2), { minLength: 2, maxLength: 3 }).map(parallel) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 0, max: 2 }), few(leaf, 2))
      .map(([items, concurrency, steps]) => map(items, concurrency, steps)),
  },
);

/** State machines in JSONata with one to five steps, with joins one level deep. */
export const flows: fc.Arbitrary<object> = few(nested, 5).map((steps) => ({
  QueryLanguage: "JSONata",
  ...container("S", steps),
}));
