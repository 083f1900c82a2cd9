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

/** Returns a number, or the text itself if it is none: the schema's message then has it. */
export function numberOrText(text: string): number | string {
  const value = Number(text);
  return text.trim() !== "" && Number.isFinite(value) ? value : text;
}

/** Creates the error for an option's value that breaks a rule. */
export function invalidOption(path: string, value: string | undefined, rule: string): InvalidInputError {
  return new InvalidInputError("the options are not valid", [
    { path, ...(value === undefined ? {} : { value }), rule },
  ]);
}
