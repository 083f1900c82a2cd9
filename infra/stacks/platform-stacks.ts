import type { ApiStack } from "./api-stack";
import type { ComputeStack } from "./compute-stack";
import type { DataStack } from "./data-stack";
import type { ObservabilityStack } from "./observability-stack";
import type { TriggersStack } from "./triggers-stack";
import type { WorkflowStack } from "./workflow-stack";

export interface PlatformStacks {
  readonly data: DataStack;
  readonly compute: ComputeStack;
  readonly workflow: WorkflowStack;
  readonly api: ApiStack;
  readonly triggers: TriggersStack;
  readonly observability: ObservabilityStack;
}
