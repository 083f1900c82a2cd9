import type { ApiStack } from "./stacks/api-stack";
import type { ComputeStack } from "./stacks/compute-stack";
import type { DataStack } from "./stacks/data-stack";
import type { ObservabilityStack } from "./stacks/observability-stack";
import type { TriggersStack } from "./stacks/triggers-stack";
import type { WorkflowStack } from "./stacks/workflow-stack";

export interface PlatformStacks {
  readonly data: DataStack;
  readonly compute: ComputeStack;
  readonly workflow: WorkflowStack;
  readonly api: ApiStack;
  readonly triggers: TriggersStack;
  readonly observability: ObservabilityStack;
}
