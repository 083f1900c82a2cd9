import {
  ExpressionError,
  expressionColumns,
  expressionProblem,
  readExpression,
} from "../../../../core/datasets/contract/expression";

const sql = (text: string): string =>
  readExpression(text)
    .map((part) => ("text" in part ? part.text : `<${part.column}>`))
    .join(" ");

describe("an expression of a contract", () => {
  it.each([
    ["arrival >= departure", "<arrival> >= <departure>"],
    ["a=-1 or b<>'it''s'", "<a> = - 1 OR <b> <> 'it''s'"],
    [`"my ""col""" is not distinct from 2`, `<my "col"> IS NOT DISTINCT FROM 2`],
    ["length(code) between 3 and 4", "length ( <code> ) BETWEEN 3 AND 4"],
    ["at > timestamp '2026-01-01' and timestamp > 5", "<at> > TIMESTAMP '2026-01-01' AND <timestamp> > 5"],
    ["case when x > 1e-3 then y end is null", "CASE WHEN <x> > 1e-3 THEN <y> END IS NULL"],
  ])("%s is read", (text, expected) => expect(sql(text)).toBe(expected));

  it("names its columns once", () => {
    expect(expressionColumns(readExpression("a > b and a < 3"))).toEqual(["a", "b"]);
  });

  it.each([
    ["a query", "x in (select 1)", /must not have a query/],
    ["another table", "x = 1 from y", /must not have FROM/],
    ["a function that reads", "read_text('/etc/passwd') is null", /must not call read_text/],
    ["a setting", "current_setting('home_directory') = ''", /must not call current_setting/],
    ["a second statement", "true; drop table x", /"; drop tab" is no part of one/],
    ["a comment", "true -- and x", /must not have the operator --/],
    ["a comment of several lines", "a /* */ b", /must not have the operator \/\*/],
    ["a member of a table", "t.x > 1", /"\.x > 1" is no part of one/],
    ["a cast", "x::int = 1", /is no part of one/],
    ["a lambda", "list_sum(x -> 1)", /must not have the operator ->/],
    ["a text in dollars", "$$a$$ = x", /is no part of one/],
    ["an end before its start", "a) or (b", /opening parenthesis for each closing one/],
    ["an open parenthesis", "(a", /closing parenthesis for each opening one/],
    ["two expressions", "a, b", /must be one expression/],
    ["nothing", "  ", /must not be empty/],
    ["a distinct aggregate", "distinct x", /must not have DISTINCT/],
  ])("%s is refused", (_case, text, message) => {
    expect(() => readExpression(text)).toThrow(ExpressionError);
    expect(() => readExpression(text)).toThrow(message);
  });

  it.each([
    ["price >", "must have a value after >"],
    ["> 1", "must have a value before >"],
    ["a b", 'must have an operator before "b"'],
    ["a > * 2", "must have a value before *"],
    ["0 < x < 10", "must have AND or OR before <"],
    ["x in ()", "must have a value before )"],
    ["length(x,) > 1", "must have a value before )"],
    ["x between 1", "must have AND after 1"],
    ["x is 3", "must have NULL, TRUE, FALSE or DISTINCT FROM before 3"],
    ["x not 3", "must have an operator before NOT"],
    ["case when x then 1", "must have END after 1"],
    ["case x end", "must have WHEN before END"],
    ["x and", "must have a value after AND"],
  ])("%s is no SQL", (text, problem) => expect(expressionProblem(text)).toBe(problem));

  it.each([
    "not a > -1 and b between - 2 and c + 1 or d not in (1, 2)",
    "case a when 1 then true when 2 then b like 'x%' else null end is not true",
    "(a, b) = (1, 2) and a is not distinct from coalesce(b, (c))",
    "at > timestamp '2026-01-01' - interval '1 day' and a == b == c",
    "a < 1 is null < 2 and a > not b > c and a not null",
  ])("%s is SQL", (text) => expect(expressionProblem(text)).toBeUndefined());
});
