import { pythonDumps, pythonRepr } from "../../../api/mlflow/python-text";

// Python 3.11's repr().
it.each([
  ["a", "'a'"],
  ["", "''"],
  ["it's", `"it's"`],
  [`"a"`, `'"a"'`],
  [`it's "a"`, `'it\\'s "a"'`],
  ["a\\b\n\t", "'a\\\\b\\n\\t'"],
  ["é😀", "'é😀'"],
])("%j is shown as %s", (text, shown) => expect(pythonRepr(text)).toBe(shown));

// Python 3.11's json.dumps().
it.each([
  [[{ name: "model", version: 1 }], '[{"name": "model", "version": 1}]'],
  [[], "[]"],
  [{ a: [1, null, true], "é😀": {} }, '{"a": [1, null, true], "\\u00e9\\ud83d\\ude00": {}}'],
])("%j is written as Python writes it", (value, text) => expect(pythonDumps(value)).toBe(text));
