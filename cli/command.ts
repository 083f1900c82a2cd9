import { Command as BaseCommand, type Option } from "commander";
import { InvalidInputError } from "../core/errors";
import { type CliContext, contextOf } from "./context";

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

export function invalidOption(path: string, value: string | undefined, rule: string): InvalidInputError {
  return new InvalidInputError("the options are not valid", [
    { path, ...(value === undefined ? {} : { value }), rule },
  ]);
}

interface Repetition {
  /** Whether each value is a list that is separated by commas. If the option is absent, it is `undefined`, not empty. */
  readonly commas?: boolean;
  readonly required?: boolean;
}

/** A command of the command line. It refuses an option that is given twice, unless the option is `repeatable`. */
export class Command extends BaseCommand {
  private readonly given = new Set<string>();
  private readonly collecting = new Set<Option>();

  override createCommand(name?: string): Command {
    return new Command(name);
  }

  override addOption(option: Option): this {
    if (!this.collecting.has(option)) this.on(`option:${option.name()}`, (value) => this.refuseSecond(option, value));
    return super.addOption(option);
  }

  /** Adds an option that collects its values. A key of `--flag <key=value>` must not be repeated. */
  repeatable(flags: string, description: string, { commas = false, required = false }: Repetition = {}): this {
    const option = this.createOption(flags, `${description} (repeatable)`).makeOptionMandatory(required);
    if (!commas && !required) option.default([]);
    const hasKeys = flags.includes("=");
    option.argParser((value: string, earlier: readonly string[] = []) => {
      const key = value.slice(0, value.indexOf("=") + 1);
      if (hasKeys && key !== "" && earlier.some((one) => one.startsWith(key))) {
        throw invalidOption(`--${option.name()}`, value, `must be given once for ${key.slice(0, -1)}`);
      }
      return [...earlier, ...(commas ? listOf(value) : [value])];
    });
    this.collecting.add(option);
    return this.addOption(option);
  }

  /** Sets the action of a command that calls the API: it gets the context, the command's arguments and its options. */
  handle<Args extends readonly unknown[]>(action: (context: CliContext, ...args: Args) => unknown): this {
    return this.action(async (...args: readonly unknown[]) => {
      await action(contextOf(this), ...(args.slice(0, -1) as unknown as Args));
    });
  }

  /** `--flag` and `--no-flag` are one option. @throws InvalidInputError */
  private refuseSecond(option: Option, value: string | undefined): void {
    const name = option.attributeName();
    if (this.given.has(name)) throw invalidOption(`--${option.name()}`, value, "must be given once");
    this.given.add(name);
  }
}

/** Splits `NA,?`. */
function listOf(text: string): readonly string[] {
  return text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
}
