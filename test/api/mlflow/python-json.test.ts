import { memberAt, pythonFloat, pythonJson, withNumberLiterals } from "../../../api/mlflow/python-json";

/** Worked with Python 3.11: `json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))`. */
describe("a JSON text as Python writes it", () => {
  it.each([
    ["9.0", "9.0"],
    ["9", "9"],
    ["1e5", "100000.0"],
    ["1E-5", "1e-05"],
    ["0.0001", "0.0001"],
    ["1e16", "1e+16"],
    ["123456789012345.5", "123456789012345.5"],
    ["1e15", "1000000000000000.0"],
    ["1e400", "Infinity"],
    ["-0", "0"],
    ["-0.0", "-0.0"],
    ["12345678901234567890", "12345678901234567890"],
    ['{ "b": 1.0, "a": [null, false, "1.0"] }', '{"a":[null,false,"1.0"],"b":1.0}'],
    ['"é\\"\\\\ 2.0 \\u007f\\n😀"', '"\\u00e9\\"\\\\ 2.0 \\u007f\\n\\ud83d\\ude00"'],
  ])("%s", (text, written) => expect(pythonJson(withNumberLiterals(text))).toBe(written));

  it("has its numbers where they stood", () => {
    const body = withNumberLiterals('{"metrics":[{"key":"a"},{"key":2.50}]}');
    expect(pythonJson(memberAt(body, "metrics[1].key"))).toBe("2.5");
    expect(memberAt(body, "metrics[2].key")).toBeUndefined();
  });

  it.each([
    [2, "2.0"],
    [1e-7, "1e-07"],
    [1.5e300, "1.5e+300"],
    [Number.NaN, "NaN"],
  ])("%d is the float %s", (value, written) => expect(pythonFloat(value)).toBe(written));
});
