import { pythonRepr } from "../../../core/mlflow/python-text";

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
