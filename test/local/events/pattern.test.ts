import { matchesPattern, parsePattern } from "../../../local/events/pattern";

const event = {
  source: "aws.batch",
  "detail-type": "Batch Job State Change",
  resources: ["arn:a", "arn:b"],
  detail: {
    status: "FAILED",
    "exit-code": 137,
    ok: false,
    reason: null,
    path: "s3://runs/r-1/model.safetensors",
    ip: "10.0.3.7",
    tags: { team: "Vision" },
    attempts: [
      { code: 1, host: "a" },
      { code: 2, host: "b" },
    ],
    none: [],
  },
};

describe("patterns", () => {
  const cases: readonly [string, unknown, boolean][] = [
    ["exact text", { source: ["aws.batch"] }, true],
    ["one of a list", { detail: { status: ["SUCCEEDED", "FAILED"] } }, true],
    ["all fields must hold", { source: ["aws.batch"], detail: { status: ["RUNNING"] } }, false],
    ["number", { detail: { "exit-code": [137] } }, true],
    ["a number is not its text", { detail: { "exit-code": ["137"] } }, false],
    ["boolean and null", { detail: { ok: [false], reason: [null] } }, true],
    ["null is not absence", { detail: { missing: [null] } }, false],
    ["one element of an array", { resources: ["arn:b"] }, true],
    ["an array of objects, within one of them", { detail: { attempts: { code: [2], host: ["b"] } } }, true],
    ["not across two of them", { detail: { attempts: { code: [2], host: ["a"] } } }, false],
    ["prefix", { detail: { path: [{ prefix: "s3://runs/" }] } }, true],
    ["prefix of a number", { detail: { "exit-code": [{ prefix: "1" }] } }, false],
    ["wildcard", { detail: { path: [{ wildcard: "s3://*/r-*/model.*" }] } }, true],
    ["wildcard matches whole", { detail: { path: [{ wildcard: "runs/*" }] } }, false],
    ["wildcard escapes", { detail: { path: [{ wildcard: "s3:\\*" }] } }, false],
    ["a dot in a wildcard is a dot", { detail: { ip: [{ wildcard: "10x0.*" }] } }, false],
    ["exists", { detail: { status: [{ exists: true }] } }, true],
    ["exists: not", { detail: { missing: [{ exists: false }] } }, true],
    ["exists: not, under what is not there", { detail: { missing: { deeper: [{ exists: false }] } } }, true],
    ["exists speaks of leaves", { detail: { tags: [{ exists: true }] } }, false],
    ["an empty array holds nothing", { detail: { none: [{ exists: true }] } }, false],
  ];
  it.each(cases)("%s", (_, pattern, expected) => {
    expect(matchesPattern(parsePattern(JSON.stringify(pattern)), event)).toBe(expected);
  });

  it.each([
    ["{", /not JSON/],
    ["[]", /must be an object/],
    ["{}", /must be an object/],
    ['{"source":"aws.batch"}', /'source' must be an object or an array/],
    ['{"source":[]}', /Empty arrays/],
    ['{"detail":{}}', /Empty objects/],
    ['{"source":[{"prefix":1}]}', /'prefix'/],
    ['{"source":[{"begins":"a"}]}', /'begins'/],
    ['{"source":[{"prefix":"a","wildcard":"b"}]}', /Only one key/],
    ['{"x":[{"numeric":[">",1]}]}', /'numeric'.* implements exists, prefix, wildcard/],
    ['{"x":[{"wildcard":"a**b"}]}', /'wildcard'/],
    ['{"x":[["a"]]}', /Match value/],
    ['{"$or":[{"x":["a"]},{"x":["b"]}]}', /does not implement \$or/],
  ])("refuses %s", (pattern, message) => {
    expect(() => parsePattern(pattern)).toThrow(message);
  });
});
