import fc, { type Arbitrary } from "fast-check";
import { hostile, hostileText } from "../../api/fuzz/arbitrary";

/**
 * Generates values of a shape of the AWS SDK's service models, which are data since 3.1000: a number for a simple type, otherwise a
 * list that begins with its kind (`@smithy/core/schema`, "static schema").
 */
export type Shape = number | readonly unknown[] | (() => Shape);

const kinds = { list: 1, map: 2, struct: 3, union: 4 } as const;
const listModifier = 64;
const mapModifier = 128;
/** Depth from which optional members are omitted. */
const maxDepth = 5;

const resources = ["fuzz", "fuzz", "fuzz", "none", "", "x".repeat(300), "ü", "../fuzz", "fuzz\u0000"];
const arns = [
  "arn:aws:states:us-east-1:000000000000:stateMachine:fuzz",
  "arn:aws:states:us-east-1:000000000000:execution:fuzz:fuzz",
  "arn:aws:sns:us-east-1:000000000000:fuzz",
  "arn:aws:dynamodb:us-east-1:000000000000:table/fuzz",
  "arn:aws:iam::000000000000:role/fuzz",
  "arn:",
  "fuzz",
];
const expressions = [
  "pk = :v",
  "#n = :v AND begins_with(sk, :v)",
  "attribute_not_exists(pk)",
  "SET a = :v",
  "SET #n = if_not_exists(#n, :v) + :v REMOVE b",
  "(".repeat(2_000),
  "a.b[0].c",
  "size(a) > :v OR NOT contains(a, :v)",
  "rate(1 minute)",
  "cron(0 0 * * ? *)",
  "at(2030-01-01T00:00:00)",
];
const documents = [
  "{}",
  '{"a":1}',
  '{"source":["fuzz"]}',
  '{"source":[{"wildcard":"*a*b*c"}]}',
  '{"QueryLanguage":"JSONata","StartAt":"A","States":{"A":{"Type":"Pass","End":true}}}',
  '{"QueryLanguage":"JSONata","StartAt":"A","States":{"A":{"Type":"Wait","Seconds":1,"End":true}}}',
  "[".repeat(5_000),
  `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`,
  '{"Version":"2012-10-17","Statement":[]}',
  "{",
];

function texts(name: string): Arbitrary<unknown> {
  const good = /arn$|^resource$|RoleARN/i.test(name)
    ? fc.constantFrom(...arns)
    : /expression|condition/i.test(name)
      ? fc.constantFrom(...expressions)
      : /definition|input|detail|pattern|policy|output|payload|message/i.test(name)
        ? fc.constantFrom(...documents)
        : fc.constantFrom(...resources);
  return fc.oneof(
    { weight: 12, arbitrary: good },
    { weight: 2, arbitrary: hostileText },
    { weight: 1, arbitrary: hostile },
  );
}

/** @param name name of the member, which shows the meaning of a text */
export function valuesOf(shape: Shape, name: string, depth = 0): Arbitrary<unknown> {
  if (typeof shape === "function") return valuesOf(shape(), name, depth);
  if (typeof shape === "number") return simpleValues(shape, name);
  const [kind, namespace] = shape;
  if (typeof namespace !== "string") return valuesOf(shape[0] as Shape, name, depth);
  switch (kind) {
    case kinds.list:
      return fc.array(valuesOf(shape[4] as Shape, name, depth + 1), { maxLength: depth > maxDepth ? 0 : 3 });
    case kinds.map:
      return fc.dictionary(
        fc.constantFrom("pk", "sk", "a", "#n", ":v", "x"),
        valuesOf(shape[5] as Shape, name, depth + 1),
        { maxKeys: depth > maxDepth ? 0 : 3 },
      );
    case kinds.struct:
      return membersOf(shape, depth);
    case kinds.union:
      return depth > maxDepth ? fc.constant({ S: "x" }) : oneMemberOf(shape, depth);
    default:
      return valuesOf(shape[4] as Shape, name, depth);
  }
}

function simpleValues(type: number, name: string): Arbitrary<unknown> {
  if (type >= mapModifier)
    return fc.dictionary(fc.constantFrom("a", "#n", "x"), simpleValues(type - mapModifier, name), { maxKeys: 3 });
  if (type >= listModifier) return fc.array(simpleValues(type - listModifier, name), { maxLength: 3 });
  switch (type) {
    case 0:
      return texts(name);
    case 1:
      return fc.oneof(
        { weight: 8, arbitrary: fc.constantFrom<unknown>(0, 1, 2, 10, 100) },
        { weight: 1, arbitrary: fc.constantFrom<unknown>(-1, 1e9, 1e300, 0.5, Number.NaN) },
      );
    case 2:
      return fc.boolean();
    case 4:
    case 5:
    case 6:
    case 7:
      return fc.constantFrom<unknown>(new Date(0), new Date(1_700_000_000_000), new Date(8.64e15));
    case 21:
    case 42:
      return fc.oneof(
        fc.uint8Array({ maxLength: 40 }),
        fc.constantFrom(...documents).map((text) => Buffer.from(text)),
      );
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

interface Members {
  readonly names: readonly string[];
  readonly shapes: readonly Shape[];
  /** Number of leading members that are required. */
  readonly required: number;
}

function readMembers(shape: readonly unknown[]): Members {
  return {
    names: shape[4] as readonly string[],
    shapes: shape[5] as readonly Shape[],
    required: typeof shape[6] === "number" ? shape[6] : 0,
  };
}

function membersOf(shape: readonly unknown[], depth: number): Arbitrary<unknown> {
  const { names, shapes, required } = readMembers(shape);
  const optional = depth > maxDepth ? 0 : depth === 0 ? 0.4 : 0.25;
  return fc
    .array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: names.length, maxLength: names.length })
    .chain((chances) => {
      const chosen = names.flatMap((name, i) =>
        (i < required ? chances[i]! < 0.96 : chances[i]! < optional) ? [[name, shapes[i]!] as const] : [],
      );
      return fc.record(Object.fromEntries(chosen.map(([name, member]) => [name, valuesOf(member, name, depth + 1)])));
    });
}

function oneMemberOf(shape: readonly unknown[], depth: number): Arbitrary<unknown> {
  const { names, shapes } = readMembers(shape);
  return fc
    .nat(names.length - 1)
    .chain((at) => valuesOf(shapes[at]!, names[at]!, depth + 1).map((value) => ({ [names[at]!]: value })));
}
