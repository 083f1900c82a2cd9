import { matchesPattern } from "../../../local/events/pattern";
import { parsePattern } from "../../../local/events/pattern-rules";

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
    ["prefix, whatever the case", { detail: { tags: { team: [{ prefix: { "equals-ignore-case": "vIS" } }] } } }, true],
    ["suffix", { detail: { path: [{ suffix: ".safetensors" }] } }, true],
    ["suffix, whatever the case", { detail: { path: [{ suffix: { "equals-ignore-case": ".SafeTensors" } }] } }, true],
    ["prefix of a number", { detail: { "exit-code": [{ prefix: "1" }] } }, false],
    ["equals-ignore-case", { detail: { tags: { team: [{ "equals-ignore-case": "vision" }] } } }, true],
    ["wildcard", { detail: { path: [{ wildcard: "s3://*/r-*/model.*" }] } }, true],
    ["wildcard matches whole", { detail: { path: [{ wildcard: "runs/*" }] } }, false],
    ["wildcard escapes", { detail: { path: [{ wildcard: "s3:\\*" }] } }, false],
    ["a dot in a wildcard is a dot", { detail: { ip: [{ wildcard: "10x0.*" }] } }, false],
    ["anything-but", { detail: { status: [{ "anything-but": "SUCCEEDED" }] } }, true],
    ["anything-but, listed", { detail: { status: [{ "anything-but": ["SUCCEEDED", "FAILED"] }] } }, false],
    ["anything-but a number", { detail: { "exit-code": [{ "anything-but": [0, 1] }] } }, true],
    ["anything-but a prefix", { detail: { path: [{ "anything-but": { prefix: "s3://" } }] } }, false],
    ["anything-but suffixes", { detail: { path: [{ "anything-but": { suffix: [".csv", ".parquet"] } }] } }, true],
    [
      "anything-but, whatever the case",
      { detail: { tags: { team: [{ "anything-but": { "equals-ignore-case": ["VISION"] } }] } } },
      false,
    ],
    ["anything-but a wildcard", { detail: { path: [{ "anything-but": { wildcard: "*/r-2/*" } }] } }, true],
    ["anything-but of what is absent", { detail: { missing: [{ "anything-but": "x" }] } }, false],
    ["numeric", { detail: { "exit-code": [{ numeric: [">", 128] }] } }, true],
    ["numeric range", { detail: { "exit-code": [{ numeric: [">=", 1, "<", 137] }] } }, false],
    ["numeric equality", { detail: { "exit-code": [{ numeric: ["=", 137] }] } }, true],
    ["exists", { detail: { status: [{ exists: true }] } }, true],
    ["exists: not", { detail: { missing: [{ exists: false }] } }, true],
    ["exists: not, under what is not there", { detail: { missing: { deeper: [{ exists: false }] } } }, true],
    ["exists speaks of leaves", { detail: { tags: [{ exists: true }] } }, false],
    ["an empty array holds nothing", { detail: { none: [{ exists: true }] } }, false],
    ["cidr", { detail: { ip: [{ cidr: "10.0.0.0/16" }] } }, true],
    ["cidr, outside", { detail: { ip: [{ cidr: "10.1.0.0/16" }] } }, false],
    [
      "$or",
      {
        $or: [
          { source: ["aws.s3"] },
          { detail: { "exit-code": [{ numeric: ["<", 0] }] } },
          { detail: { ok: [false] } },
        ],
      },
      true,
    ],
    [
      "$or next to a field",
      { source: ["aws.s3"], $or: [{ detail: { ok: [false] } }, { detail: { ok: [true] } }] },
      false,
    ],
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
    ['{"source":[{"prefix":"a","suffix":"b"}]}', /Only one key/],
    ['{"x":[{"numeric":[">"]}]}', /'numeric'/],
    ['{"x":[{"numeric":["<",1,">",5]}]}', /'numeric'/],
    ['{"x":[{"numeric":[">",5,"<",1]}]}', /'numeric'/],
    ['{"x":[{"wildcard":"a**b"}]}', /'wildcard'/],
    ['{"x":[{"cidr":"10.0.0.0/33"}]}', /'cidr'/],
    ['{"x":[{"anything-but":[]}]}', /'anything-but'/],
    ['{"x":[{"anything-but":["a",1]}]}', /'anything-but'/],
    ['{"x":[["a"]]}', /Match value/],
    ['{"$or":[{"x":["a"]}]}', /at least two/],
  ])("refuses %s", (pattern, message) => {
    expect(() => parsePattern(pattern)).toThrow(message);
  });
});
