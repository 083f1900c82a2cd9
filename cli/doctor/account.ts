/** Reads settings that decide whether a platform can train. Each may be denied, so each is read separately. */
export interface AccountReader {
  readonly account: string;
  readonly region: string;
  readonly prefix: string;
  queues(): Promise<readonly Resource[]>;
  environments(): Promise<readonly ComputeEnvironment[]>;
  quota(serviceCode: "ec2" | "lambda", quotaCode: string): Promise<number>;
  dualStackIPv6(): Promise<string>;
  publicNetwork(): Promise<boolean>;
  spotRole(): Promise<boolean>;
  /** Reads the subscriptions of the alarm topic. Undefined if there is no topic. */
  subscriptions(topicArn: string): Promise<readonly Subscription[] | undefined>;
  /** Reads the status of the cost allocation tag `ringmaster`. Undefined until Billing has seen the tag. */
  costTag(): Promise<string | undefined>;
}

export interface Resource {
  readonly name: string;
  readonly state: string;
  /** `VALID`, `INVALID`, `UPDATING`, … */
  readonly status: string;
  readonly reason: string;
}

export interface ComputeEnvironment extends Resource {
  readonly market: "spot" | "on-demand";
  /** Families or instance types. */
  readonly instanceTypes: readonly string[];
  readonly maxVcpus: number;
}

export interface Subscription {
  readonly endpoint: string;
  readonly confirmed: boolean;
}

export interface Finding {
  readonly check: string;
  /** `unchecked`: the check could not be done, so it counts as a failure. */
  readonly result: "ok" | "warning" | "problem" | "unchecked";
  readonly found: string;
  readonly fix?: string;
}
