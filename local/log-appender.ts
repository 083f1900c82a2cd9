/** Where processes' output goes: CloudWatch Logs on AWS. */
export interface LogAppender {
  /** Appends lines, in order; makes the group and the stream when there are none. Never throws: output is not worth a failure. */
  append(group: string, stream: string, events: readonly LogLine[]): void;
}

export interface LogLine {
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  readonly message: string;
}
