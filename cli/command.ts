import { Command as BaseCommand } from "commander";
import { type CliContext, contextOf } from "./context";

/** A command of the command line. */
export class Command extends BaseCommand {
  override createCommand(name?: string): Command {
    return new Command(name);
  }

  /** Sets the action of a command that calls the API: it gets the context, the command's arguments and its options. */
  handle<Args extends readonly unknown[]>(action: (context: CliContext, ...args: Args) => unknown): this {
    return this.action(async (...args: readonly unknown[]) => {
      await action(contextOf(this), ...(args.slice(0, -1) as unknown as Args));
    });
  }
}
