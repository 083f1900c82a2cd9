/** The destination of processes' output, like CloudWatch Logs on AWS. */
export interface LogAppender {
  /**
   * Appends lines in order, and creates the group and the stream if they do not exist. Never throws, because a lost log
   * line must not fail its caller.
   */
  append(group: string, stream: string, events: readonly LogLine[]): void;
}

export interface LogLine {
  /** The time in milliseconds since the epoch. */
  readonly timestamp: number;
  readonly message: string;
}
