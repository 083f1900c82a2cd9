import { parseCsvHeader } from "../../../adapters/duckdb/formats/csv-header";

describe("parseCsvHeader", () => {
  it.each([
    ["a,b", ",", ["a", "b"]],
    ["a;b;c,d", ";", ["a", "b", "c,d"]],
    ["a\tb", "\t", ["a", "b"]],
    ["a|b", "|", ["a", "b"]],
    ['"a, or ""b""",c', ",", ['a, or "b"', "c"]],
    ["only", ",", ["only"]],
    [" a , b ", ",", ["a", "b"]],
    [",a,b", ",", ["column_1", "a", "b"]],
    ['"";a', ";", ["column_1", "a"]],
    [",,a", ",", ["column_1", "column_2", "a"]],
    ["a,,b", ",", ["a", "", "b"]],
    ['a,b, ,""', ",", ["a", "b"]],
    [",,", ",", ["", "", ""]],
    ["", ",", [""]],
  ])("reads %j", (line, delimiter, names) => {
    expect(parseCsvHeader(line)).toEqual({ delimiter, names });
  });
});
