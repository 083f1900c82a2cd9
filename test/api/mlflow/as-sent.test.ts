import { memberAsSent } from "../../../api/mlflow/request";

it.each([
  ["9.0", "a", '{"a":9.0}'],
  ["1e5", "a", '{"a":1e5}'],
  ["12345678901234567890", "a", '{"a":12345678901234567890}'],
  ['"5"', "a", '{"a":"5"}'],
  ['[null,{"b":1.0},"2.0"]', "a", '{"a":[null, {"b":1.0}, "2.0"]}'],
  ["2.50", "metrics[1].key", '{"metrics":[{"key":"a"},{"key":2.50}]}'],
  ["7.0", "a", JSON.stringify('{"a":7.0}')],
  [undefined, "a.b", '{"a":null}'],
])("shows %s, which is %s of %s", (shown, path, json) => expect(memberAsSent(json, path)).toBe(shown));
