/** What somebody outside said of a version. */
export interface CheckAnswer {
  readonly passed: boolean;
  /** A sentence of whoever checked. */
  readonly evidence: string;
  readonly by: string;
  readonly at: string;
  /** Of a command: how it ended, what it was, and the end of what it wrote. */
  readonly exitCode?: number;
  readonly command?: string;
  readonly output?: string;
}
