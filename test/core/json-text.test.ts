import {
  checkJsonLimits,
  JsonLimitError,
  type JsonLimits,
  parseCounted,
  parseJson,
  requestLimits,
  toJson,
} from "../../core/json-text";

const limits: JsonLimits = { depth: 3, values: 8, elements: 4, members: 4, characters: 5 };

describe("the limits of a JSON text", () => {
  it.each([
    ["[[[1]]]", 4],
    ['{"a":{"b":[]}}', 4],
    ["[1,2,3,4]", 5],
    ['{"a":1,"b":2,"c":3,"d":4}', 5],
    ['["12345"]', 2],
    ['["[{,"]', 2],
    [String.raw`["\"[[["]`, 2],
    [String.raw`["\\",[[]]]`, 5],
    ["", 1],
  ])("takes %s as %i values at most", (text, values) => {
    expect(checkJsonLimits(text, { ...limits, values: 100 })).toBe(values);
  });

  it.each([
    ["[[[[1]]]]", "must be at most 3 levels deep"],
    ['{"a":{"b":{"c":{}}}}', "must be at most 3 levels deep"],
    ["[1,2,3,4,5]", "must have at most 4 elements in one list"],
    ['{"a":1,"b":2,"c":3,"d":4,"e":5}', "must have at most 4 members in all its objects"],
    ['[{"a":1,"b":2},{"a":1,"b":2,"c":3}]', "must have at most 4 members in all its objects"],
    ["[[1,2,3],[1,2,3]]", "must have at most 8 values"],
    ['["123456"]', "must have at most 5 characters in one text"],
    ['["123456', "must have at most 5 characters in one text"],
    [`["${'\\"'.repeat(5_000)}"]`, "must have at most 5 characters in one text"],
  ])("refuses %s: %s", (text, rule) => {
    expect(() => parseJson(text, limits)).toThrow(new JsonLimitError(rule));
  });

  it.each([1, 24])("takes a short text of %i levels", (levels) => {
    expect(parseCounted("[".repeat(levels) + "]".repeat(levels)).values).toBe(levels);
  });

  it.each(["[", '{"a":'])("refuses a short text of 25 levels of %s", (open) => {
    const text = open.repeat(25) + (open === "[" ? "]" : "0}").repeat(1) + (open === "[" ? "]" : "}").repeat(24);
    expect(() => parseCounted(text)).toThrow(new JsonLimitError("must be at most 24 levels deep"));
  });

  it("refuses a short text of 90,000 levels without recursion", () => {
    expect(() => parseCounted("[".repeat(90_000) + "]".repeat(90_000))).toThrow(JsonLimitError);
  });

  it("counts the values of a short text", () => {
    expect(parseCounted('{"a":[1,"x",null],"b":{}}').values).toBe(6);
  });

  it("finds a depth of a million levels without recursion", () => {
    expect(() => parseJson("[".repeat(1_000_000))).toThrow(JsonLimitError);
  });

  it("has room for the largest call that logs metrics", () => {
    const column = Array.from({ length: 100_000 }, (_, i) => i);
    const text = JSON.stringify({ series: [{ metric: "a", steps: column, values: column, times: column }] });
    expect(checkJsonLimits(text, requestLimits)).toBeLessThan(requestLimits.values);
  });
});

describe("encoded JSON", () => {
  it("has numbers that JSON lacks as strings, and nothing else changed", () => {
    const value = {
      y: [2, Number.NaN, -0.5],
      last: Number.NEGATIVE_INFINITY,
      none: null,
      text: "null",
      left: undefined,
    };
    expect(toJson(value)).toBe('{"y":[2,"NaN",-0.5],"last":"-Infinity","none":null,"text":"null"}');
    expect(toJson({ max: Number.POSITIVE_INFINITY })).toBe('{"max":"Infinity"}');
    expect(toJson([1, { a: "b" }])).toBe('[1,{"a":"b"}]');
  });
});
