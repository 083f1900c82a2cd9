import fc, { type Arbitrary } from "fast-check";

/** Fields of the searches: texts, and numbers. */
const fields = {
  runs: {
    texts: [
      ...["params.depth", 'parameters."learning rate"', "tags.team", "tags.`mlflow.runName`", "attributes.status"],
      ...["attr.run_name", "run_id", "dataset.name", "datasets.digest"],
    ],
    numbers: ["metrics.loss", "metric.`val loss`", "start_time", "attributes.end_time"],
  },
  experiments: { texts: ["name", "tags.team", "attribute.name"], numbers: ["creation_time", "last_update_time"] },
  models: { texts: ["name", "tags.team", "tag.`a b`"], numbers: [] },
  versions: { texts: ["name", "run_id", "tags.team"], numbers: ["version_number"] },
  loggedModels: {
    texts: ["name", "model_type", "status", "params.depth", "tags.team", "source_run_id"],
    numbers: ["metrics.loss", "creation_timestamp"],
  },
} as const satisfies Readonly<
  Record<string, { readonly texts: readonly string[]; readonly numbers: readonly string[] }>
>;

export type Searched = keyof typeof fields;

const names = (of: Searched): Arbitrary<string> =>
  fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom<string>(...fields[of].texts, ...fields[of].numbers) },
    { weight: 1, arbitrary: fc.constantFrom("inputs.x", "metrics.", "nothing") },
  );
const text = fc.oneof(
  fc.constantFrom("'a'", '"b"', "'%a_'", "'it''s'", "'\\\\'", "'@{run_id}'", "'FINISHED'", "''", "'ä🦄'", "'a\\nb'"),
  fc.string({ maxLength: 12, unit: "grapheme" }).map((inside) => `'${inside.replaceAll("'", "")}'`),
);
const number = fc.oneof(
  { weight: 3, arbitrary: fc.integer().map(String) },
  { weight: 1, arbitrary: fc.constantFrom("0", "-1", "0.5", "1e3") },
);
const oddNumber = fc.constantFrom("1e400", "-0", "NaN", "9".repeat(25), ".5", "0x10", "1.");
const join = (parts: readonly string[]): string => parts.join(" ");
const onText = (of: Searched): Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom<string>(...fields[of].texts), fc.constantFrom("=", "!=", "LIKE", "ILIKE", "like"), text)
    .map(join);
const onNumber = (of: Searched): Arbitrary<string> =>
  fc
    .tuple(
      fc.constantFrom<string>(...fields[of].numbers, ...(fields[of].numbers.length > 0 ? [] : fields[of].texts)),
      fc.constantFrom("=", "!=", "<", "<=", ">", ">="),
      number,
    )
    .map(join);
/** Any field with any comparator and any value. */
const mixed = (of: Searched): Arbitrary<string> =>
  fc.tuple(names(of), fc.constantFrom("=", "<", "LIKE", "==", "=="), fc.oneof(text, number, oddNumber)).map(join);
const comparison = (of: Searched): Arbitrary<string> =>
  fc.oneof(
    { weight: 6, arbitrary: onText(of) },
    { weight: fields[of].numbers.length > 0 ? 6 : 0, arbitrary: onNumber(of) },
    { weight: 1, arbitrary: mixed(of) },
  );
const inList = (of: Searched): Arbitrary<string> =>
  fc
    .tuple(names(of), fc.constantFrom("IN", "NOT IN", "in"), fc.array(fc.oneof(text, number), { maxLength: 4 }))
    .map(([field, word, values]) => `${field} ${word} (${values.join(", ")})`);
const isNull = (of: Searched): Arbitrary<string> =>
  fc.tuple(names(of), fc.constantFrom("IS NULL", "IS NOT NULL")).map((parts) => parts.join(" "));

const whole = (of: Searched): Arbitrary<string> =>
  fc
    .array(
      fc.oneof(
        { weight: 6, arbitrary: comparison(of) },
        { weight: 1, arbitrary: inList(of) },
        { weight: 1, arbitrary: isNull(of) },
      ),
      { minLength: 1, maxLength: 4 },
    )
    .chain((conditions) =>
      fc
        .constantFrom(...Array<string>(8).fill(" AND "), " and ", " OR ", " AND NOT ")
        .map((word) => conditions.join(word)),
    );

/** Characters taken out, put in or doubled; brackets that do not close. */
const broken = (of: Searched): Arbitrary<string> =>
  fc
    .tuple(
      whole(of),
      fc.nat(200),
      fc.constantFrom("", "'", '"', "`", "(", ")", ";", "--", "/*", "\u0000", "\\", ".", "AND", "\n", "🦄"),
    )
    .map(([filter, at, piece]) => {
      const place = at % (filter.length + 1);
      return `${filter.slice(0, place)}${piece}${filter.slice(place + (piece === "" ? 3 : 0))}`;
    });

const odd = fc.constantFrom(
  "(".repeat(2_000),
  "name = 'a' AND ".repeat(600),
  `name IN (${"'a',".repeat(3_000)}'b')`,
  "a".repeat(20_000),
  "'",
  "1 = 1",
  "SELECT * FROM runs",
  "metrics.",
  "name LIKE '%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%a'",
);

export const filterOf = (of: Searched): Arbitrary<string> =>
  fc.oneof(
    { weight: 1, arbitrary: fc.constant("") },
    { weight: 8, arbitrary: comparison(of) },
    { weight: 4, arbitrary: whole(of) },
    { weight: 2, arbitrary: broken(of) },
    { weight: 1, arbitrary: odd },
  );

export const orderOf = (of: Searched): Arbitrary<string> =>
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.tuple(names(of), fc.constantFrom("", " ASC", " DESC", " asc")).map((parts) => parts.join("")),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom("", "name ASC DESC", "metrics.loss,", "`", "ASC", "name; DROP", "timestamp"),
    },
    { weight: 1, arbitrary: fc.string({ maxLength: 20, unit: "binary" }) },
  );
