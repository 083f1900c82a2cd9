import type { TargetPorts } from "../../../local/events/target";

export class RecordingTargets implements TargetPorts {
  readonly invoked: unknown[] = [];
  readonly started: { readonly arn: string; readonly input: unknown; readonly name: string }[] = [];
  failing: Error | undefined;

  readonly functions = {
    invoke: async () => ({ payload: null }),
    invokeAsync: async (_name: string, payload: unknown) => {
      if (this.failing) throw this.failing;
      this.invoked.push(payload);
    },
  };

  readonly startExecution = async (arn: string, input: string, name: string) => {
    if (this.failing) throw this.failing;
    this.started.push({ arn, input: JSON.parse(input), name });
  };

  reset(): void {
    this.invoked.length = 0;
    this.started.length = 0;
    this.failing = undefined;
  }
}

export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((tick) => setTimeout(tick, 2));
}
