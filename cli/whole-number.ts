import { InvalidInputError } from "../core/errors";

/** Reads an option's whole number. The API checks its range. */
export function wholeNumber(option: string): (text: string) => number {
  return (text) => {
    if (/^\d{1,9}$/.test(text)) return Number(text);
    throw new InvalidInputError("the option is not valid", [
      { path: option, value: text, rule: "must be a whole number" },
    ]);
  };
}
